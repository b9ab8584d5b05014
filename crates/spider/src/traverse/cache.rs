//! Reuses stored results: the references of unchanged documents, and the URLs that an interrupted run has tested.

use modoai_fetch::Url;

use super::Traversal;
use super::settle::READER;
use super::visit::Method;
use super::web::Stage;
use crate::extract;
use crate::table::codec::{self, KeptTarget};
use crate::table::{TableError, Test};
use crate::verdict::Outcome;

impl Traversal {
    /// Processes an unchanged document: follows its stored references.
    pub(super) fn go_on_with_kept(&mut self, number: u32) -> Result<(), TableError> {
        if self.web.node(number).method != Method::Read {
            return Ok(());
        }
        self.progress.pages += 1;
        if let (Ok(url), Some(test)) = (Url::parse(self.web.names.name(number)), self.table.test(number)?) {
            let owner = self.owners.of(&url).map(str::to_owned).or(test.owner);
            self.settle_owner(number, &url, owner.as_deref());
        }
        if !self.is_followed(number) {
            self.web.keep_edges(number, Vec::new());
            return Ok(());
        }
        self.follow_kept(number)
    }

    /// Follows the references of a document that are stored in the table.
    pub(super) fn follow_kept(&mut self, number: u32) -> Result<(), TableError> {
        self.web.node_mut(number).is_nobodys = false;
        let Some(packed) = self.table.references(number)? else { return Ok(()) };
        let way = self.way_from(number);
        let mut edges = Vec::new();
        let bytes = codec::unpack(&packed);
        for kept in codec::references(&bytes) {
            if let KeptTarget::Node { id, fragment } = kept.target
                && (id as usize) < self.web.nodes.len()
            {
                self.refer(id, way, kept.kind.leads(), fragment, &mut edges);
            }
        }
        self.web.keep_edges(number, edges);
        Ok(())
    }

    /// Reuses the result of a URL that this run had tested before it was interrupted.
    pub(super) fn recall(&mut self, number: u32) -> Result<(), TableError> {
        let method = self.method(number);
        let node = *self.web.node(number);
        if node.stage != Stage::Waiting {
            return Ok(());
        }
        let test = self.table.test(number)?;
        let is_unread = match &test {
            Some(test) if method == Method::Read => self.is_unread(number, test)?,
            _ => false,
        };
        if node.code == 0 && (is_unread || !self.may_be_same(number)) {
            self.web.node_mut(number).is_recent = false;
            self.enqueue(number);
            return Ok(());
        }
        let node = self.web.node_mut(number);
        (node.stage, node.method) = (Stage::Done, method);
        self.progress.tested += 1;
        if let Some(test) = &test
            && self.show(number, &test.outcome, None)?
        {
            self.go_on_with_kept(number)?;
        }
        match test.map(|test| test.outcome) {
            Some(Outcome::Moved { to, .. }) => self.follow_redirect(number, &to),
            Some(Outcome::Good) => self.go_on_with_kept(number),
            Some(Outcome::Broken(_)) => {
                self.progress.broken += 1;
                Ok(())
            }
            Some(Outcome::NotTested(_)) | None => Ok(()),
        }
    }

    /// Returns true if a document was tested but not read, or read by another version of the extraction: it must then
    /// be fetched completely.
    pub(super) fn is_unread(&self, number: u32, test: &Test) -> Result<bool, TableError> {
        let media_type = test.media_type.as_deref().map(|text| text.split(';').next().unwrap_or(text).trim());
        let media_type = media_type.map(str::to_ascii_lowercase);
        let url = Url::parse(self.web.names.name(number));
        let may_be_read =
            self.web.node(number).is_sitemap || url.is_ok_and(|url| extract::is_read(media_type.as_deref(), &url));
        // Without a digest, the validators belong to a response that was not read.
        Ok(may_be_read && (test.digest.is_none() || !self.table.has_page(number, READER)?))
    }
}
