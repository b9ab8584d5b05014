//! The public URL of a site: `OAISiteURL`, or else `ServerName`, and never the host that a client names.

use modoai_httpd::request::Request;
use modoai_httpd::server::Server;

use crate::Oai;

/// The URL of a site, with a slash at the end.
pub(crate) struct Address(String);

impl Address {
    /// Returns the address of the server that received a request, with the scheme and port of the request.
    pub(crate) fn of(request: &Request<'_>) -> Self {
        let server = request.server();
        let port = server.own_port().unwrap_or_else(|| request.local_port());
        Self::given(&server).unwrap_or_else(|| Self::made(&server, request.scheme(), port, request.default_port()))
    }

    /// Returns the address of a server that has not received a request yet.
    pub(crate) fn of_server(server: &Server<'_>) -> Self {
        let port = server.port();
        let (scheme, default) = if port == 443 { ("https", 443) } else { ("http", 80) };
        Self::given(server).unwrap_or_else(|| Self::made(server, scheme, port, default))
    }

    fn given(server: &Server<'_>) -> Option<Self> {
        server.config::<Oai>().site_url.clone().map(Self)
    }

    fn made(server: &Server<'_>, scheme: &str, port: u16, default: u16) -> Self {
        let name = server.name();
        let name = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
        Self(if port == default || port == 0 {
            format!("{scheme}://{name}/")
        } else {
            format!("{scheme}://{name}:{port}/")
        })
    }

    /// The whole URL.
    pub(crate) fn url(&self) -> &str {
        &self.0
    }

    /// `http` or `https`.
    pub(crate) fn scheme(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }

    /// Returns the value of a client's Host header.
    pub(crate) fn authority(&self) -> &str {
        self.0.split('/').nth(2).unwrap_or_default()
    }
}
