//! `modoai index`.

use clap::Args;

use crate::config::{SiteArgs, shown};
use crate::error::CliError;
use crate::open::{Opened, not_indexed};
use crate::output::{self, Counting};

/// Bring the catalogue of a folder up to date, once.
///
/// For cron, or before a first `modoai serve` of a large site. While `modoai serve` runs it keeps the catalogue current
/// by itself, and this command has nothing to do.
#[derive(Debug, Args)]
pub(crate) struct Index {
    #[command(flatten)]
    site: SiteArgs,
    /// Believe that whatever is not there has been deleted, however much it is.
    #[arg(long)]
    accept_deletions: bool,
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
}

impl Index {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let opened = Opened::new(&self.site, &[])?;
        let Some(reconciler) = opened.reconciler()? else {
            if self.accept_deletions {
                let what = "another modoai keeps this catalogue, and does not believe the deletions";
                return Err(CliError::failed(what).hint("stop it, run this again, and start it again"));
            }
            return if self.json {
                output::print("{\"kept_by_another\":true}\n")
            } else {
                output::print("another modoai keeps this catalogue current; nothing to do\n")
            };
        };
        let mut reconciler = if self.accept_deletions { reconciler.believing_all() } else { reconciler };
        let counting = Counting::start("looking", reconciler.seen());
        let tally = reconciler.everything(&|_, _| {});
        drop(counting);
        let tally = tally.map_err(not_indexed)?;
        output::print(&if self.json {
            let summary = serde_json::json!({
                "files": tally.files, "new_or_changed": tally.put, "deleted": tally.deleted,
                "unsettled": tally.unsettled.len(), "unknown": tally.unknown, "state": opened.state_dir.to_string_lossy(),
            });
            format!("{summary}\n")
        } else {
            let (files, put, deleted) = (tally.files, tally.put, tally.deleted);
            let site = shown(opened.site.root());
            format!("{site}: {files} files, {put} new or changed, {deleted} deleted\n")
        })?;
        match tally.unknown {
            0 => Ok(()),
            some => {
                let what = format!("{some} files or folders could not be looked at; what is known of them was kept");
                Err(CliError::failed(what).hint("the log names each of them"))
            }
        }
    }
}
