//! A request as its host received it: the parts that the repository uses, before the arguments are parsed.

use std::ffi::CStr;
use std::net::IpAddr;
use std::sync::Arc;

use modoai_flow::Flow;
use modoai_protocol::query;
use modoai_repository::Form;

use crate::browser::is_browser;
use crate::error::ErrorResponse;
use crate::inquiry::Inquiry;

/// The parts of a request.
#[derive(Clone, Debug)]
pub struct Received {
    pub(crate) is_head: bool,
    pub(crate) form: Form,
    /// Credentials and cookies select what is listed, as they select what a GET returns.
    pub(crate) is_personal: bool,
    pub(crate) address: IpAddr,
    pub(crate) user: Option<String>,
    pub(crate) agent: String,
    pub(crate) from: String,
    query: Vec<u8>,
    /// None if the arguments are not in the body; otherwise true if its media type is that of a form.
    body: Option<bool>,
}

impl Received {
    /// `form` is the one that the path names. `address` is that of the client, and `user` the one whose password was
    /// checked. `header` returns the value of a header; several values are joined by commas.
    pub fn new(
        method: &str,
        query: &[u8],
        form: Option<Form>,
        (address, user): (IpAddr, Option<&str>),
        header: impl Fn(&CStr) -> Option<String>,
    ) -> Self {
        let by_client = || if is_browser(method, &header) { Form::Page } else { Form::Xml };
        let is_form = || {
            header(c"Content-Type").is_none_or(|value| {
                let media_type = value.split(';').next().unwrap_or_default().trim();
                media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded")
            })
        };
        Self {
            is_head: method == "HEAD",
            form: form.unwrap_or_else(by_client),
            is_personal: user.is_some() || header(c"Authorization").is_some() || header(c"Cookie").is_some(),
            address,
            user: user.map(str::to_owned),
            agent: header(c"User-Agent").unwrap_or_default(),
            from: header(c"From").unwrap_or_default(),
            query: query.to_vec(),
            body: (method == "POST").then(is_form),
        }
    }

    /// Returns true if the host must read the body, of up to [`query::MAX_BYTES`], and pass it to [`read`](Self::read).
    pub fn takes_form(&self) -> Result<bool, ErrorResponse> {
        match self.body {
            Some(false) => Err(ErrorResponse::NOT_A_FORM),
            body => Ok(body.is_some()),
        }
    }

    /// Reads the arguments: those of the query, or of the body of a POST.
    pub fn read(self, body: Option<&[u8]>, flow: &Arc<Flow>) -> Inquiry {
        let arguments = match body {
            Some(body) => query::parse_post(&self.query, body),
            None => query::parse(&self.query),
        };
        Inquiry::new(self, arguments, flow)
    }
}
