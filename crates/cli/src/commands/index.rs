//! `modoai index`.

mod apache;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use modoai_repository::ingest::Tally;
use serde_json::{Value, json};

use crate::config::{SiteArgs, shown};
use crate::error::CliError;
use crate::open::{Opened, not_indexed};
use crate::output::{self, Counting};
use apache::ApacheArgs;

/// Update the catalogue of a directory once.
///
/// Use it in cron, or before the first `modoai serve` of a large site. While `modoai serve` runs, it keeps the
/// catalogue current, and this command has nothing to do.
///
/// With --apache, index the sites of an Apache httpd with mod_oai before it starts, so that its own first scan of a
/// large site is short. httpd determines the final media types, so a new catalogue is incomplete, and nothing is
/// listed, until httpd has scanned the site itself. Run it as the user of the httpd children: `sudo -u www-data modoai
/// index --apache`.
#[derive(Debug, Args)]
pub(crate) struct Index {
    #[command(flatten)]
    what: What,
    /// Accept all missing files as deleted, regardless of their number.
    #[arg(long)]
    accept_deletions: bool,
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
}

/// The subject of the index. Options for a directory are invalid for httpd, and the other way round.
#[derive(Debug)]
enum What {
    Folder(SiteArgs),
    Apache(ApacheArgs),
}

impl Args for What {
    fn augment_args(command: Command) -> Command {
        let command = ApacheArgs::augment_args(SiteArgs::augment_args(command));
        let usage = "modoai index [OPTIONS] <DIR>\n       modoai index [OPTIONS] --apache";
        command.mut_arg("dir", |dir| dir.required(false).required_unless_present("apache")).override_usage(usage)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for What {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        if !matches.get_flag("apache") {
            return SiteArgs::from_arg_matches(matches).map(Self::Folder);
        }
        // Checked here, because a setting in the environment is not a contradiction.
        let of_a_folder =
            [("dir", "DIR"), ("data", "--data"), ("config", "--config"), ("url", "--url"), ("assignments", "--option")];
        for (id, name) in of_a_folder {
            if matches.value_source(id) == Some(ValueSource::CommandLine) {
                let what = format!("{name} cannot be used with --apache: the httpd configuration defines the sites");
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, what));
            }
        }
        ApacheArgs::from_arg_matches(matches).map(Self::Apache)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Index {
    pub(crate) fn run(self) -> Result<(), CliError> {
        match self.what {
            What::Folder(site) => index_folder(&site, self.accept_deletions, self.json),
            What::Apache(apache) => apache.run(self.accept_deletions, self.json),
        }
    }
}

fn index_folder(site: &SiteArgs, accept_deletions: bool, as_json: bool) -> Result<(), CliError> {
    let opened = Opened::new(site, &[])?;
    let Some(reconciler) = opened.reconciler()? else {
        if accept_deletions {
            return Err(kept_by("another modoai process"));
        }
        return if as_json {
            output::print("{\"kept_by_another\":true}\n")
        } else {
            output::print("another modoai process keeps this catalogue current; nothing to do\n")
        };
    };
    let mut reconciler = if accept_deletions { reconciler.accepting_deletions() } else { reconciler };
    let counting = Counting::start("looking", reconciler.seen());
    let tally = reconciler.everything(&|_, _| {});
    drop(counting);
    let tally = tally.map_err(not_indexed)?;
    output::print(&if as_json {
        let mut summary = counted(&tally);
        summary["state"] = json!(opened.state_dir.to_string_lossy());
        format!("{summary}\n")
    } else {
        format!("{}: {}\n", shown(&opened.root), told(&tally))
    })?;
    all_looked_at(&tally)
}

/// Returns the error for deletions that another process has withheld: they cannot be accepted on its behalf.
fn kept_by(whom: &str) -> CliError {
    CliError::failed(format!("{whom} is updating this catalogue and has withheld the deletions"))
        .hint("stop it, run this command again, and restart it")
}

/// Returns the result as JSON.
fn counted(tally: &Tally) -> Value {
    json!({
        "files": tally.files, "new_or_changed": tally.put, "deleted": tally.deleted,
        "unsettled": tally.unsettled.len(), "unknown": tally.unknown, "withheld": tally.withheld,
    })
}

/// Returns the result as text.
fn told(tally: &Tally) -> String {
    let withheld = match tally.withheld {
        0 => String::new(),
        some => format!(", {some} withheld (setting 'withhold')"),
    };
    format!(
        "{}, {} added or updated, {} deleted{withheld}",
        output::counted(tally.files, "file", "files"),
        tally.put,
        tally.deleted
    )
}

fn all_looked_at(tally: &Tally) -> Result<(), CliError> {
    match tally.unknown {
        0 => Ok(()),
        some => {
            let what = format!("{some} files or directories could not be read; their catalogue entries were kept");
            Err(CliError::failed(what).hint("each is listed above"))
        }
    }
}
