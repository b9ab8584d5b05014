//! What is sent back: status, headers, bytes, and how they are delivered.

use std::time::Duration;

/// One answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers but those of the delivery.
    pub headers: Vec<(String, String)>,
    /// The body, in whatever coding the headers claim or do not claim.
    pub body: Vec<u8>,
    /// How long the first byte is waited for.
    pub delay: Duration,
    /// How the body gets to the other side, or does not.
    pub delivery: Delivery,
}

/// How a body is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// With its length.
    Length,
    /// In chunks.
    Chunked,
    /// Until the connection is closed.
    UntilClose,
    /// With its length, but closed after so many bytes.
    CutAt(usize),
    /// With its length, but reset after so many bytes.
    ResetAt(usize),
    /// With its length, but silent after so many bytes.
    StallAt(usize),
    /// With a length that is larger, and closed at the end.
    LengthTooLarge,
    /// In chunks; closed without the last one.
    ChunkedWithoutEnd,
    /// With its length, so many times over: bodies larger than memory should have to be.
    Repeated(u64),
    /// Without a head: the body is all that is said, and then the connection is closed.
    Bare,
}

impl Reply {
    /// XML with status 200.
    pub fn xml(body: Vec<u8>) -> Self {
        Self::of(200, "text/xml; charset=utf-8", body)
    }

    /// A page for eyes.
    pub fn html(status: u16, text: &str) -> Self {
        let page =
            format!("<!DOCTYPE html>\n<html><head><title>{text}</title></head><body><p>{text}<br></body></html>");
        Self::of(status, "text/html; charset=utf-8", page.into_bytes())
    }

    /// Any status with any body.
    pub fn of(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), media_type.to_owned())];
        Self { status, headers, body: body.into(), delay: Duration::ZERO, delivery: Delivery::Length }
    }

    /// The same with one more header, or another value of one.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set_header(name, value);
        self
    }

    /// The same, delivered in another way.
    #[must_use]
    pub fn delivered(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The same, after a while.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The value of a header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Adds a header or gives it another value.
    pub fn set_header(&mut self, name: &str, value: &str) {
        self.headers.retain(|(given, _)| !given.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// Half of the body's length.
    pub fn half(&self) -> usize {
        self.body.len() / 2
    }
}
