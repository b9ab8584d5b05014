//! Those who look at the sites: told by every request that is not ours, known to lists in all children.

use std::sync::Arc;

use modoai_flow::Readers;
use modoai_httpd::log::{self, Level};
use modoai_httpd::request::Request;
use modoai_httpd::server::Server;

use crate::Oai;
use crate::directives::HANDLERS;

/// Lets all servers know of each other's readers: they share the processors.
pub(crate) fn prepare(main: Server<'_>) {
    match Readers::new() {
        Ok(readers) => {
            let readers = Arc::new(readers);
            for server in main.all() {
                // Set once in a configuration's life.
                let _ = server.config::<Oai>().readers.set(readers.clone());
            }
        }
        Err(error) => {
            let message = format!("lists do not give way to readers: children cannot share memory ({error})");
            log::server(Level::Warning, &message);
        }
    }
}

/// Notes that a request has been answered, if it was for the site.
pub(crate) fn notice(request: &Request<'_>) {
    let server = request.server();
    if let Some(readers) = server.config::<Oai>().readers.get()
        && !request.handler().is_some_and(|handler| HANDLERS.contains(&handler))
    {
        readers.one_more();
    }
}
