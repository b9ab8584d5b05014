//! The command line as a whole.

use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::commands::{
    ask, completions, count, harvest, harvesters, import, index, man, records, rules, serve, settings, spider, status,
    validate,
};
use crate::error::{CliError, EXIT_CODES};
use crate::log;
use crate::output::{self, Colour};
use crate::place;

/// Serve, harvest and maintain web sites with OAI-PMH.
///
/// modoai exposes a directory of files as an OAI-PMH 2.0 repository: a complete and current list of the resources of a
/// site, their changes, their deletions and their content. It also harvests any OAI-PMH repository, serves catalogued
/// documents, validates endpoints, and checks the links of web sites.
#[derive(Debug, Parser)]
#[command(name = "modoai", version = env!("MODOAI_VERSION"), after_long_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct App {
    /// Print log records, with time and source, to standard error; use twice for debug output.
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    verbose: u8,
    /// Print no progress and no notes to standard error; reports and errors are still printed.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Colour the output.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    color: Colour,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Import(Box<import::ImportCommand>),
    Index(index::Index),
    Ask(ask::Ask),
    Harvest(harvest::HarvestCommand),
    Status(status::StatusCommand),
    Records(records::Records),
    Harvesters(harvesters::HarvestersCommand),
    Rules(rules::RulesCommand),
    Validate(validate::Validate),
    Spider(spider::SpiderCommand),
    Count(Box<count::CountCommand>),
    Settings(settings::SettingsCommand),
    Completions(completions::Completions),
    Man(man::Man),
}

/// Parses the command line and runs the command.
pub(crate) fn run() -> Result<(), CliError> {
    // Help and usage errors are printed while the command line is parsed, so their colour must be known before.
    let colour = Colour::given(std::env::args_os());
    let mut command = App::command().color(colour.into());
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = matches.and_then(|matches| {
        App::from_arg_matches(&matches).map_err(|error| {
            let chosen = matches.subcommand_name().and_then(|name| command.find_subcommand_mut(name));
            error.format(chosen.expect("clap accepts no command line without a subcommand"))
        })
    });
    let app = parsed.unwrap_or_else(|error| {
        let usage = error.use_stderr();
        // If even that cannot be printed, the error cannot be reported.
        let _ = error.print();
        std::process::exit(if usage { crate::error::Kind::Usage as i32 } else { 0 });
    });
    output::choose_colour(app.color);
    log::start(app.verbose, app.quiet, matches!(app.command, Command::Serve(_)));
    if matches!(app.command, Command::Serve(_) | Command::Index(_) | Command::Ask(_)) {
        place::keep_private();
    }
    match app.command {
        Command::Serve(command) => command.run(),
        Command::Import(command) => command.run(app.quiet),
        Command::Index(command) => command.run(),
        Command::Ask(command) => command.run(),
        Command::Harvest(command) => command.run(app.quiet),
        Command::Status(command) => command.run(),
        Command::Records(command) => command.run(),
        Command::Harvesters(command) => command.run(),
        Command::Rules(command) => command.run(),
        Command::Validate(command) => command.run(app.quiet),
        Command::Spider(command) => command.run(app.quiet),
        Command::Count(command) => command.run(app.quiet),
        Command::Settings(command) => command.run(),
        Command::Completions(command) => command.run(&mut App::command()),
        Command::Man(command) => command.run(App::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        App::command().debug_assert();
    }
}
