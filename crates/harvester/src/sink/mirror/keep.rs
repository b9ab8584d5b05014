//! Stores the resources of a record as files.

use std::time::{Duration, SystemTime};

use super::Mirror;
use super::before::{Before, Whose};
use super::index::{Entry, Share};
use super::path::{Path, Site, WebUrl, place};
use super::tree::{self, Undone};
use crate::clock;
use crate::didl::{Algorithm, Component};
use crate::record::{Header, Novelty};
use crate::sink::SinkError;
use crate::sink::reference::{Got, Known, Validators, http_date};
use crate::sink::resources::{self, Resources};
use crate::sink::spool::Spool;

impl Mirror {
    /// Stores all resources of a record, and removes its earlier files that are not among them.
    pub(super) fn keep_all(&mut self, mut record: Resources, novelty: Novelty) -> Result<(), Undone> {
        let header = &record.header;
        let mut kept = Vec::new();
        if !header.deleted {
            if let Some(fault) = record.fault.take() {
                return Err(Undone::Refused(fault));
            }
            for (component, spool) in record.found.drain(..) {
                // In records with several Components, one with neither value nor reference is metadata.
                if spool.is_none() && web_url(&component).is_none() {
                    continue;
                }
                let path = self.keep(header, &component, spool, novelty, &kept)?;
                kept.push(path);
            }
            if kept.is_empty() {
                return Err(Undone::Refused("the record contains no resource, by value or by reference".to_owned()));
            }
        }
        for entry in self.index.of(&header.identifier)? {
            if !kept.contains(&entry.path) {
                self.discard(&entry.path)?;
            }
        }
        for share in self.index.shares_of(&header.identifier)? {
            if !kept.contains(&share.path) {
                self.index.unshare(&share.path, &header.identifier)?;
            }
        }
        Ok(())
    }

    /// Stores one resource. Returns its path.
    pub(super) fn keep(
        &mut self,
        header: &Header,
        component: &Component,
        spool: Option<Spool>,
        novelty: Novelty,
        others: &[Vec<u8>],
    ) -> Result<Vec<u8>, Undone> {
        let reference = web_url(component);
        let url = reference.or(component.identifier.as_deref()).unwrap_or(&header.identifier);
        let path = self.place(url, component)?;
        let key = path.to_bytes();
        if others.contains(&key) {
            return Err(Undone::Refused(format!("the record has two resources for '{}'", path.display())));
        }
        let before = self.before(&header.identifier, url, &path, &key)?;
        let stated = component.header("Last-Modified").and_then(http_date);
        let mut told = Validators { etag: component.header("ETag").map(str::to_owned), modified: stated };

        let fresh = match (spool, reference) {
            (Some(mut spool), _) => {
                self.check(component, &mut spool)?;
                (!before.holds(&spool.digest().bytes)).then_some(spool)
            }
            (None, _) if novelty == Novelty::Same && self.had(&before, &header.identifier, &key)? => None,
            (None, reference) => match component.digest().filter(|stated| stated.algorithm == Algorithm::Sha256) {
                Some(stated) if before.holds(&stated.bytes) => None,
                Some(_) if before.whose != Whose::Own => return Err(before.whose.refusal(&path)),
                _ => match reference {
                    Some(reference) => self.fetch(component, reference, &before, &mut told)?,
                    None => None,
                },
            },
        };
        // The received bytes may be those that are already there.
        let fresh = fresh.filter(|spool| before.whose == Whose::Own || !before.holds(&spool.digest().bytes));
        if fresh.is_some() && before.whose != Whose::Own {
            return Err(before.whose.refusal(&path));
        }
        if let (Whose::Anothers(_), Some(entry)) = (&before.whose, &before.entry) {
            let (identifier, url, digest) = (header.identifier.clone(), url.to_owned(), entry.digest.clone());
            self.index.share(&Share { path: key.clone(), identifier, url, digest })?;
            return Ok(key);
        }
        let modified = match (&fresh, &before.entry) {
            (None, Some(entry)) if told.modified.is_none() => entry.modified,
            _ => told.modified.unwrap_or_else(clock::now).unix(),
        };
        let mut entry = Entry {
            path: key.clone(),
            identifier: header.identifier.clone(),
            url: url.to_owned(),
            etag: told.etag,
            size: 0,
            modified,
            digest: Vec::new(),
        };
        let is_doubted = self.index.is_doubted(&key)?;
        match (fresh, &before.entry) {
            (Some(spool), _) => {
                (entry.size, entry.digest) = (spool.len(), spool.digest().bytes);
                let temporary = spool.into_file(&self.scratch)?;
                tree::date(&temporary.file, modified)
                    .map_err(SinkError::io("set the modification time of a file in", &self.own_path))?;
                if before.entry.is_none() || is_doubted {
                    self.claims.add(&key, &entry.digest)?;
                }
                self.tree.put(&path, temporary, entry.size)?;
            }
            (None, Some(known)) => {
                (entry.size, entry.digest) = (known.size, known.digest.clone());
                entry.etag = entry.etag.or_else(|| known.etag.clone());
                if is_doubted {
                    self.claims.add(&key, &entry.digest)?;
                }
                if known.modified != modified {
                    self.tree.touch(&path, modified)?;
                }
            }
            (None, None) => return Err(Undone::Refused(format!("'{url}' contains no resource"))),
        }
        if before.whose == Whose::Foreign || before.entry.as_ref() != Some(&entry) {
            self.index.put(&entry)?;
        }
        self.index.unshare(&key, &header.identifier)?;
        if is_doubted {
            self.index.trust(&key)?;
        }
        Ok(key)
    }

    /// Returns true if the path contains what this record last had there.
    fn had(&self, before: &Before, identifier: &str, key: &[u8]) -> Result<bool, SinkError> {
        Ok(before.intact
            && match &before.whose {
                Whose::Own => true,
                Whose::Foreign => false,
                Whose::Anothers(_) => {
                    let shares = self.index.shares_of(identifier)?;
                    shares.iter().any(|share| share.path == key && before.holds(&share.digest))
                }
            })
    }

    fn place(&mut self, url: &str, component: &Component) -> Result<Path, Undone> {
        if self.site.is_none()
            && let Some(site) = Site::of(&self.base_url, url)
        {
            // The site is fixed from here on: a mirror does not move.
            self.index.set_site(&site.to_text())?;
            self.site = Some(site);
        }
        let location = component.header("Content-Location");
        place(self.site.as_ref(), url, location, self.allow_dotfiles).map_err(Undone::Refused)
    }

    /// Fetches a resource that the record only references; `None` if it has not changed.
    fn fetch(
        &self,
        component: &Component,
        url: &str,
        before: &Before,
        told: &mut Validators,
    ) -> Result<Option<Spool>, Undone> {
        let known = before.entry.as_ref().filter(|_| before.intact && before.whose == Whose::Own);
        let known = Known {
            etag: known.and_then(|entry| entry.etag.as_deref()),
            modified: known.and_then(|entry| since_epoch(entry.modified)),
            coding: component.header("Content-Encoding"),
        };
        let mut spool = Spool::new(Algorithm::Sha256);
        let got = self.getter.get(url, known, &mut spool, &self.scratch)?;
        match got.map_err(Undone::Refused)? {
            Got::Unchanged => Ok(None),
            Got::Whole(response) => {
                self.check(component, &mut spool)?;
                let validators = response.validators();
                told.etag = validators.etag.or(told.etag.take());
                told.modified = validators.modified.or(told.modified);
                Ok(Some(spool))
            }
        }
    }

    fn check(&self, component: &Component, spool: &mut Spool) -> Result<(), Undone> {
        resources::check(component, spool, &self.scratch)?.map_or(Ok(()), |fault| Err(Undone::Refused(fault)))
    }
}

/// Returns the first reference with a URL of the web.
fn web_url(component: &Component) -> Option<&str> {
    component.references.iter().map(String::as_str).find(|url| WebUrl::split(url).is_some())
}

/// Returns a time that a conditional request can contain: 1970 or later.
fn since_epoch(seconds: i64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::{Place, SinkOptions, Source};

    /// Such file systems are rare, so this mirror is configured to treat its own as one.
    #[test]
    fn names_that_a_disk_takes_for_one_are_not_written_over_each_other() {
        let dir = tempfile::tempdir().expect("a folder");
        let source = Source { base_url: "http://h/modoai".to_owned(), ..Source::default() };
        let client = modoai_fetch::Client::new(modoai_fetch::Manners::default()).expect("a client");
        let options = SinkOptions::default();
        let (gauge, budget) = (std::sync::Arc::default(), std::sync::Arc::default());
        let (dir, source, options) = (dir.path(), &source, &options);
        let place = Place { dir, mark: None, distrusted: false, source, client, gauge, budget, options };
        let mut mirror = Mirror::open(place).expect("a mirror");
        assert!(!mirror.folds);
        mirror.folds = true;
        let mut put = |name: &str| {
            let header = Header { identifier: format!("http://h/{name}"), ..Header::default() };
            let mut spool = Spool::new(Algorithm::Sha256);
            spool.push(name.as_bytes(), &mirror.scratch).expect("a disk");
            let component = Component::default();
            mirror.keep(&header, &component, Some(spool), Novelty::New, &[]).is_ok()
        };
        assert!(put("a/Straße"));
        assert!(put("a/Straße"));
        assert!(!put("A/STRAßE"));
        assert!(put("a/other"));
    }
}
