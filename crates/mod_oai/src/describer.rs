//! Determines through httpd the media type of a file, whether its URL maps to it, and whether it is public.
//!
//! The last does not decide access: it only records what was public, and when that changed, so that a harvester is
//! notified of a page that was closed, redirected or opened although its file is unchanged.

use std::borrow::Cow;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Mutex;

use modoai_httpd::probe::Verdict;
use modoai_httpd::stranger::Stranger;
use modoai_repository::site::describe::{Describer, Description};
use modoai_repository::site::walk::Met;

use crate::house::lock;

/// The media type recorded for a file without one. httpd sends no Content-Type for it, and clients then assume this
/// type.
const UNKNOWN: &str = "application/octet-stream";

/// Probes httpd as an anonymous client.
pub(crate) struct HttpdDescriber(Mutex<Stranger<'static>>);

impl HttpdDescriber {
    pub(crate) fn new(stranger: Stranger<'static>) -> Self {
        Self(Mutex::new(stranger))
    }
}

impl Describer for HttpdDescriber {
    fn at_a_glance(&self, _name: &str) -> Option<Cow<'static, str>> {
        None
    }

    fn look(&self, met: &Met) -> io::Result<Option<Description>> {
        let mut stranger = lock(&self.0);
        let asker = stranger.asks();
        let mut probe = asker.get(&format!("/{}", met.name));
        let is_public = match probe.verdict() {
            Verdict::Untouched => Some(true),
            // A temporary problem, such as missing descriptors or a stopped service, gives no information.
            Verdict::Failed(_) | Verdict::Refused(0 | 408 | 429 | 500..) => None,
            Verdict::Refused(_) | Verdict::Otherwise => Some(false),
        };
        probe.find_type();
        let media_type = probe.content_type().and_then(|content_type| content_type.split(';').next());
        let media_type = media_type.map_or_else(|| UNKNOWN.to_owned(), |text| text.trim().to_ascii_lowercase());
        let is_other = |path: &&std::path::Path| {
            std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.ino() != met.fingerprint.inode)
        };
        let elsewhere = probe.path().filter(|_| probe.is_file()).filter(is_other).map(ToOwned::to_owned);
        Ok(Some(Description { media_type, elsewhere, is_public }))
    }
}
