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

/// Bring the catalogue of a folder up to date, once.
///
/// For cron, or before a first `modoai serve` of a large site. While `modoai serve` runs it keeps the catalogue current
/// by itself, and this command has nothing to do.
///
/// With --apache it does so for an Apache httpd with mod_oai that does not run yet: its first look at a huge site is then
/// over soon. httpd itself has the last word on media types, so a new catalogue is not complete, and nothing is listed,
/// until httpd has run and looked for itself. To be run as the user that httpd's children run as:
/// `sudo -u www-data modoai index --apache`.
#[derive(Debug, Args)]
pub(crate) struct Index {
    #[command(flatten)]
    what: What,
    /// Believe that whatever is not there has been deleted, however much it is.
    #[arg(long)]
    accept_deletions: bool,
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
}

/// What is indexed. What is said of a folder makes no sense for httpd, and the other way round.
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
        // By hand, because a setting of the environment is no contradiction.
        let of_a_folder =
            [("dir", "DIR"), ("data", "--data"), ("config", "--config"), ("url", "--url"), ("assignments", "--option")];
        for (id, name) in of_a_folder {
            if matches.value_source(id) == Some(ValueSource::CommandLine) {
                let what = format!("{name} cannot be used with --apache: httpd says where its sites are");
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
            return Err(kept_by("another modoai"));
        }
        return if as_json {
            output::print("{\"kept_by_another\":true}\n")
        } else {
            output::print("another modoai keeps this catalogue current; nothing to do\n")
        };
    };
    let mut reconciler = if accept_deletions { reconciler.believing_all() } else { reconciler };
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

/// Deletions cannot be accepted in someone else's name.
fn kept_by(whom: &str) -> CliError {
    CliError::failed(format!("{whom} keeps this catalogue, and does not believe the deletions"))
        .hint("stop it, run this again, and start it again")
}

/// What was found, for a program.
fn counted(tally: &Tally) -> Value {
    json!({
        "files": tally.files, "new_or_changed": tally.put, "deleted": tally.deleted,
        "unsettled": tally.unsettled.len(), "unknown": tally.unknown, "withheld": tally.withheld,
    })
}

/// What was found, for a person.
fn told(tally: &Tally) -> String {
    let withheld = match tally.withheld {
        0 => String::new(),
        some => format!(", {some} withheld (setting 'withhold')"),
    };
    format!("{} files, {} new or changed, {} deleted{withheld}", tally.files, tally.put, tally.deleted)
}

fn all_looked_at(tally: &Tally) -> Result<(), CliError> {
    match tally.unknown {
        0 => Ok(()),
        some => {
            let what = format!("{some} files or folders could not be looked at; what is known of them was kept");
            Err(CliError::failed(what).hint("the log names each of them"))
        }
    }
}
