//! Counts files, by the rules that decide on the files that a site shows.

use std::io::{self, Read as _};
use std::path::Path;

use modoai_repository::site::Site;
use modoai_repository::site::walk::{Step, walk};
use modoai_spider::count::{Ledger, Source};
use xxhash_rust::xxh3::Xxh3Default;

use crate::config::{Config, shown};
use crate::error::CliError;

/// Adds every file that the site would show. Files of the same length are compared.
pub(super) fn add(ledger: &mut Ledger, folder: &Path, config: &Config) -> Result<(), CliError> {
    let failed = |error| CliError::failed(format!("failed to read the directory {}", shown(folder))).because(error);
    // No path is reserved: another program may serve the directory.
    let site = Site::open(folder, &config.site, &[])
        .map_err(|error| CliError::failed("failed to count the files").because(error))?;
    ledger.ask(Source::Files);
    let mut files = Vec::new();
    walk::<io::Error>(&site, "", &|_, _| {}, &mut |step| {
        match step {
            Step::File(met) => files.push((met.fingerprint.size, met.name)),
            Step::Withheld(_) | Step::LeavesRoot(_) => {}
            Step::Unknown { name, error } => {
                tracing::warn!(%name, %error, "failed to read a file or directory; omitting it");
            }
        }
        Ok(())
    })
    .map_err(failed)?;
    files.sort_unstable();
    let base = ledger.place().base().clone();
    for (index, (size, name)) in files.iter().enumerate() {
        let is_equal = |other: usize| files.get(other).is_some_and(|(other, _)| other == size);
        let may_be_double = *size > 0 && (is_equal(index + 1) || index.checked_sub(1).is_some_and(is_equal));
        let digest = if may_be_double { digest(&site, name) } else { None };
        let media_type = site.kinds().by_name(name);
        ledger.add(Source::Files, &format!("{base}{name}"), media_type.as_deref(), digest);
    }
    Ok(())
}

/// Returns the hash of a file, computed as the spider does for a page; `None` if it cannot be read.
fn digest(site: &Site, name: &str) -> Option<u64> {
    let mut file = site.get(name).ok().flatten()?.file;
    let mut hash = Xxh3Default::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Some(hash.digest()),
            Ok(count) => hash.update(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
