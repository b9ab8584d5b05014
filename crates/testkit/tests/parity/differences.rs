//! The differences between the hosts, with their reasons. Each is an ability of one host.

use super::outcome::{CODING, COMPRESSIONS, Outcome};
use super::requests::Case;

/// The line in the harvest log.
const LOG: &str = "log";

/// One kind of difference.
pub(super) struct Difference {
    /// The names of requests begin with this; empty for all.
    name: &'static str,
    /// The fields that differ.
    fields: &'static [&'static str],
    /// The responses that differ.
    when: fn(&Case, &Outcome) -> bool,
    pub(super) reason: &'static str,
}

impl Difference {
    /// Returns true if responses show it, and not only the log.
    pub(super) fn is_in_responses(&self) -> bool {
        self.fields != [LOG]
    }

    pub(super) fn explains(&self, case: &Case, field: &str, ours: &Outcome) -> bool {
        case.name.starts_with(self.name) && self.fields.contains(&field) && (self.when)(case, ours)
    }
}

/// Returns true if the line of a request in the harvest log differs.
pub(super) fn is_logged_differently(case: &Case) -> bool {
    DIFFERENCES.iter().any(|row| row.fields.contains(&LOG) && case.name.starts_with(row.name))
}

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "",
        fields: &["body", "Content-Type"],
        when: |_, ours| ours.status >= 400,
        reason: "the administrator of httpd chooses its error pages (ErrorDocument)",
    },
    Difference {
        name: "",
        fields: &[COMPRESSIONS],
        when: |_, _| true,
        reason: "the standalone server encodes by itself; in httpd, it is the administrator's mod_deflate",
    },
    Difference {
        name: "",
        fields: &[CODING],
        when: |_, _| true,
        reason: "mod_deflate names Accept-Encoding only in responses with a body that it could encode",
    },
    Difference {
        name: "coding: HEAD",
        fields: &["Content-Encoding"],
        when: |_, _| true,
        reason: "mod_deflate does not encode the nothing that HEAD gets",
    },
    Difference {
        name: "coding: zstd",
        fields: &["Content-Encoding"],
        when: |_, _| true,
        reason: "httpd has no module for zstd",
    },
    Difference {
        name: "range",
        fields: &["status", "body"],
        when: |_, _| true,
        reason: "httpd cuts ranges out of every response in one piece",
    },
    Difference {
        name: "",
        fields: &["Allow"],
        when: |_, ours| ours.status == 405,
        reason: "TRACE is allowed by httpd itself (TraceEnable)",
    },
    Difference {
        name: "slash",
        fields: &["status", "Cache-Control", "Location", "Vary", "body", "Content-Type", LOG],
        when: |_, _| true,
        reason: "a Location is the repository with and without a slash; the standalone server redirects",
    },
    Difference {
        name: "wrong password",
        fields: &["status", "Cache-Control", "Vary", LOG],
        when: |_, ours| ours.status == 401,
        reason: "the standalone server knows all passwords; httpd learns that one is wrong at the first resource that needs it",
    },
    Difference {
        name: "password:",
        fields: &[LOG],
        when: |_, _| true,
        reason: "httpd checks passwords where the site asks for them; at the repository, the account is that of the address",
    },
    Difference {
        name: "record in http_header",
        fields: &["body"],
        when: |_, _| true,
        reason: "the headers of a GET are those of the host",
    },
    Difference {
        name: "records in oai_didl",
        fields: &["body"],
        when: |_, _| true,
        reason: "it contains the headers of a GET",
    },
];
