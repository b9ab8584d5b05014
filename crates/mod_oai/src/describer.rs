//! What the indexer asks httpd about a file: which media type it has, whether its URL leads to it at all, and whether
//! everybody may have it. The last is no permission: it only tells what was public once, and when that changed, so that a
//! harvester learns of a page that was closed, redirected or opened although its file is the same.

use std::borrow::Cow;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Mutex;

use modoai_httpd::probe::Verdict;
use modoai_httpd::stranger::Stranger;
use modoai_repository::site::describe::{Describer, Description};
use modoai_repository::site::walk::Met;

use crate::house::lock;

/// What a file without a media type is put down as. httpd sends no Content-Type for it, and that is what a client takes
/// it for then.
const UNKNOWN: &str = "application/octet-stream";

/// httpd, asked by a stranger.
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
            // A trouble that passes, such as a want of descriptors or a service that is down, says nothing.
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
