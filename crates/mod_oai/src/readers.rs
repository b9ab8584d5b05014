//! State that all servers and children share: requests that are not for the repository, reported to flow control so
//! that lists yield to them; and the time spent on items that are hidden from a requester.

use std::sync::Arc;

use modoai_flow::{Effort, Processors};
use modoai_httpd::log::{self, Level};
use modoai_httpd::request::Request;
use modoai_httpd::server::Server;

use crate::Oai;
use crate::directives::HANDLERS;

/// Creates the state of the processors that all servers and children share.
pub(crate) fn prepare(main: Server<'_>) {
    let processors = Arc::new(Processors::new());
    for server in main.all() {
        // Set once in a configuration's life.
        let _ = server.config::<Oai>().processors.set(processors.clone());
    }
    match Effort::new() {
        Ok(effort) => {
            let effort = Arc::new(effort);
            for server in main.all() {
                // Set once in a configuration's life.
                let _ = server.config::<Oai>().effort.set(effort.clone());
            }
        }
        Err(error) => {
            let message = format!("failed to share memory: {error}; time spent on hidden items is limited per request");
            log::server(Level::Warning, &message);
        }
    }
}

/// Reports a request that has been answered, if it was for the site.
pub(crate) fn notice(request: &Request<'_>) {
    let server = request.server();
    if let Some(processors) = server.config::<Oai>().processors.get()
        && !request.handler().is_some_and(|handler| HANDLERS.contains(&handler))
    {
        processors.reader_seen();
    }
}
