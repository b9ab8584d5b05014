//! Responses of the simulated server as XML, and in the log.

use std::fmt::Write as _;

use modoai_protocol::Datestamp;

use crate::case::Deletions;
use crate::server::Server;
use crate::truth::Item;

impl Server {
    pub(crate) fn identify(&self) -> String {
        let case = &self.case;
        let earliest = self.truth.items.iter().map(|item| item.stamp).min().unwrap_or(0);
        let deleted = match case.deletions {
            Deletions::Persistent => "persistent",
            Deletions::Transient => "transient",
            Deletions::No => "no",
        };
        let granularity = if case.days { "YYYY-MM-DD" } else { "YYYY-MM-DDThh:mm:ssZ" };
        let prompt = "<description><datestamps xmlns=\"urn:modoai:datestamps:1\">visibility</datestamps></description>";
        format!(
            "<repositoryName>simulated</repositoryName><baseURL>http://sim.example/oai</baseURL>\
             <protocolVersion>2.0</protocolVersion><adminEmail>a@sim.example</adminEmail>\
             <earliestDatestamp>{}</earliestDatestamp><deletedRecord>{deleted}</deletedRecord>\
             <granularity>{granularity}</granularity>{}",
            self.date(earliest),
            if case.prompt { prompt } else { "" }
        )
    }

    /// A datestamp as the server writes it. Its clock is ahead in datestamps, too.
    fn date(&self, unix: i64) -> String {
        let mut text = Datestamp::from_unix(unix + i64::from(self.case.skew)).to_string();
        if self.case.days {
            text.truncate(10);
        }
        text
    }

    pub(crate) fn header(&self, item: &Item) -> String {
        let status = if item.deleted { " status=\"deleted\"" } else { "" };
        let mut text = format!(
            "<header{status}><identifier>{}</identifier><datestamp>{}</datestamp>",
            item.identifier(),
            self.date(item.stamp)
        );
        if let Some(set) = item.set().filter(|_| self.case.sets) {
            let _ = write!(text, "<setSpec>{set}</setSpec>");
        }
        text + "</header>"
    }

    pub(crate) fn record(&self, item: &Item) -> String {
        let header = self.header(item);
        if item.deleted {
            return format!("<record>{header}</record>");
        }
        let (number, version) = (item.number, item.version);
        let dc = "http://www.openarchives.org/OAI/2.0/oai_dc/";
        format!("<record>{header}<metadata><dc xmlns=\"{dc}\">{number}.{version}</dc></metadata></record>")
    }
}

/// Returns text in which XML's special characters are escaped.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The items, errors and tokens of a body, for the log.
pub(crate) fn summary(body: &str) -> String {
    let between = |start: &'static str, end: &'static str| {
        body.split(start).skip(1).filter_map(move |rest| rest.split(end).next())
    };
    let items: Vec<String> = between("<identifier>", "</header>")
        .map(|header| {
            let number = header.split('<').next().unwrap_or_default().trim_start_matches("oai:sim:");
            let date = header.split("<datestamp>").nth(1).and_then(|rest| rest.split('<').next()).unwrap_or_default();
            format!("{number}@{date}")
        })
        .collect();
    let errors: Vec<&str> = between("<error code=\"", "\"").collect();
    let token = between("<resumptionToken", "</resumptionToken>").next().map(|token| format!(" token{token}"));
    format!("{} bytes: {}{}{}", body.len(), items.join(" "), errors.join(" "), token.unwrap_or_default())
}
