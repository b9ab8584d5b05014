//! mod_oai: serves any Apache site as an OAI-PMH repository.
//!
//! httpd decides what it serves and to whom; this module publishes that as lists. It makes no such decision itself: for
//! every item of every response, a probe determines what httpd would return to a plain GET by the same requester.
//!
//! | file | contents |
//! |---|---|
//! | `directives` | the table of directives |
//! | `derived` | directives that are settings: their names, help and defaults |
//! | `config` | the resulting configuration of a server and of a folder |
//! | `audience` | the attributes that httpd requires of a requester, for reports of deletions |
//! | `address` | the public URL of a site |
//! | `roots`, `users` | the directories of a server, and their URLs |
//! | `house` | the open state of a server in a child: its catalogue, its repository |
//! | `archive` | the same for a catalogue without a site |
//! | `repositories` | repositories in use, by their URLs |
//! | `handler` | a request to the repository |
//! | `host` | decisions about items, made by probes |
//! | `refused` | requests that were recently refused because of their passwords |
//! | `policy` | files that are not listed although a GET would return them, and handlers that no probe may run |
//! | `indexer` | updates of the catalogues, in one of the children |
//! | `describer` | media types and publicity of files, determined by httpd |
//! | `readers` | reports requests for the site, so that lists yield to them |
//! | `traffic` | URLs that visitors request and that cannot be derived from the files |
//! | `logging` | messages of the repository in the error log |
//!
//! This crate contains no unsafe code: it is all in `modoai-httpd`.

mod address;
mod archive;
mod audience;
mod config;
mod derived;
mod describer;
mod directives;
mod handler;
mod host;
mod house;
mod indexer;
mod logging;
mod policy;
mod readers;
mod refused;
mod repositories;
mod roots;
mod traffic;
mod users;

use modoai_endpoint::ANSWER_HEADERS;
use modoai_httpd::directive::Directive;
use modoai_httpd::module::Module;
use modoai_httpd::protected::Headers;
use modoai_httpd::request::{Outcome, Request};
use modoai_httpd::server::Server;
use modoai_httpd::stage::Stage;

use config::{DirectoryConfig, ServerConfig};

/// The module.
struct Oai;

modoai_httpd::module!(oai_module = Oai, "mod_oai.c");

impl Module for Oai {
    type Server = ServerConfig;
    type Directory = DirectoryConfig;
    const DIRECTIVES: &'static [Directive<Self>] = directives::DIRECTIVES;

    fn new_server() -> ServerConfig {
        ServerConfig::default()
    }

    fn merge_servers(base: &ServerConfig, own: &ServerConfig) -> ServerConfig {
        base.overlaid_by(own)
    }

    fn new_directory() -> DirectoryConfig {
        DirectoryConfig::default()
    }

    fn merge_directories(base: &DirectoryConfig, own: &DirectoryConfig) -> DirectoryConfig {
        base.overlaid_by(own)
    }

    fn check(main: Server<'_>) -> Result<(), String> {
        house::check(main)
    }

    fn tested(main: Server<'_>) {
        if modoai_httpd::module::is_defined(roots::SHOW) {
            print!("{}", roots::written(main));
        }
    }

    fn configured(main: Server<'_>) -> Result<(), String> {
        logging::install();
        house::prepare(main);
        readers::prepare(main);
        Ok(())
    }

    fn bars(directory: &DirectoryConfig) -> bool {
        directory.asks_for_certificate
    }

    fn headers(directory: &DirectoryConfig) -> Headers {
        if directory.is_repository == Some(true) { &ANSWER_HEADERS } else { &[] }
    }

    fn forbids(stage: Stage<'_>) -> bool {
        policy::forbids(stage)
    }

    fn handle(request: &mut Request<'_>) -> Outcome {
        handler::handle(request)
    }

    fn logged(request: &Request<'_>) {
        readers::notice(request);
        traffic::notice(request);
    }

    fn beat(main: Server<'static>) {
        indexer::beat(main);
    }

    fn stop() {
        indexer::stop();
    }
}
