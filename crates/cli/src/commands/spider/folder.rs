//! A directory as TARGET: its files are checked without a server, by the rules and with the headers of `modoai serve`.

use std::io;
use std::path::Path;
use std::sync::Arc;

use modoai_fetch::Url;
use modoai_repository::host::Representation;
use modoai_repository::site::walk::{Step, walk};
use modoai_repository::site::{self, Site, SiteSettings};
use modoai_spider::traverse::{Folder, Found, LocalSite};

use crate::config::shown;
use crate::error::CliError;

/// The media types of files that are documents.
const DOCUMENTS: [&str; 4] = ["text/html", "application/xhtml+xml", "text/markdown", "text/x-markdown"];

/// The assumed URL of a directory if none is given.
pub(super) const BASE: &str = "http://localhost/";

/// Opens a directory as the site of this URL. Every document in it is checked, whether a document links to it or not.
pub(super) fn open(folder: &Path, base: &Url) -> Result<LocalSite, CliError> {
    let failed = || CliError::failed(format!("failed to read the directory {}", shown(folder)));
    // Files that look like secrets affect the server of the directory, not its links.
    let settings = SiteSettings { withhold: Vec::new(), ..SiteSettings::default() };
    let site = Site::open(folder, &settings, &[]).map_err(|error| failed().because(error))?;
    let mut documents = Vec::new();
    walk::<io::Error>(&site, "", &|_, _| {}, &mut |step| {
        match step {
            Step::File(met) if is_document(&site, &met.name) => documents.push(url_of(&met.name, &settings.index)),
            Step::File(_) | Step::Withheld(_) | Step::LeavesRoot(_) => {}
            Step::Unknown { name, error } => tracing::warn!("failed to read {name}: {error}"),
        }
        Ok(())
    })
    .map_err(|error| failed().because(error))?;
    if documents.is_empty() {
        return Err(CliError::failed(format!("{} contains no HTML or Markdown files", shown(folder))));
    }
    Ok(LocalSite { base: base.clone(), folder: Arc::new(Files(site)), documents })
}

fn is_document(site: &Site, name: &str) -> bool {
    site.kinds().by_name(name).is_some_and(|media_type| DOCUMENTS.contains(&&*media_type))
}

/// Returns the URL of a file, relative to the base: that of its directory if it is the index.
fn url_of(name: &str, index: &str) -> String {
    let folder = name.strip_suffix(index).filter(|folder| folder.is_empty() || folder.ends_with('/'));
    // A name with a colon would be read as a scheme.
    format!("./{}", folder.unwrap_or(name))
}

struct Files(Site);

impl Folder for Files {
    fn find(&self, path: &str) -> io::Result<Found> {
        Ok(match self.0.find(path)? {
            site::Found::File(_, file) => sent(file),
            site::Found::Folder(Some((_, index))) if path.ends_with('/') => sent(index),
            site::Found::Folder(_) if !path.ends_with('/') => Found::Folder,
            site::Found::Folder(_) | site::Found::Nothing => Found::Missing,
        })
    }
}

fn sent(Representation { headers, file, .. }: Representation) -> Found {
    let headers = headers.into_iter().map(|(name, value)| (name.into_owned(), value)).collect();
    Found::File { headers, content: Box::new(file) }
}
