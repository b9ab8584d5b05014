//! `modoai`: make a web site countable, harvestable and maintainable.

// `println!` and `eprintln!` panic if the reader has closed the pipe; `output` prints what commands print.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod app;
mod commands;
mod config;
mod error;
mod httpd;
mod limits;
mod log;
mod open;
mod output;
mod place;
mod remote;
mod source;

use std::process::ExitCode;

fn main() -> ExitCode {
    match app::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
