//! The common wording and formats of verdicts, numbers and dates in all reports. A verdict is one row of [`VERDICTS`].

use std::fmt;

use jiff::Timestamp;

use crate::results::Summary;
use crate::targets::Target;
use crate::verdict::Verdict;

/// The wording of a verdict in reports.
pub(crate) struct VerdictText {
    /// The verdict.
    pub verdict: Verdict,
    /// Its name without spaces: for anchors, files, rules.
    pub slug: &'static str,
    /// A sign next to the word, which it never replaces.
    pub sign: &'static str,
    /// The heading of a list of such findings.
    pub heading: &'static str,
    /// The description of one such finding.
    pub is: &'static str,
    /// The recommended action.
    pub advice: &'static str,
    /// The singular and plural of its count.
    pub counted: (&'static str, &'static str),
    /// Its colour on a terminal (SGR).
    pub colour: &'static str,
    /// Its severity in SARIF.
    pub level: &'static str,
}

impl VerdictText {
    /// Returns true if it is an error, and not only information.
    pub(super) fn is_fault(&self) -> bool {
        self.level == "error"
    }

    /// Returns true if it applies to a link, and not to a document.
    pub(super) fn is_of_a_link(&self) -> bool {
        !matches!(self.verdict, Verdict::Changed | Verdict::Expiring)
    }
}

/// All verdicts in reports, the most important first.
pub(super) const VERDICTS: &[VerdictText] = &[
    VerdictText {
        verdict: Verdict::Broken,
        slug: "broken",
        sign: "✗",
        heading: "Broken links",
        is: "The target of a link does not exist, or its URL is invalid.",
        advice: "These links do not work. Update or remove them.",
        counted: ("broken target", "broken targets"),
        colour: "31",
        level: "error",
    },
    VerdictText {
        verdict: Verdict::Fragment,
        slug: "fragment",
        sign: "#",
        heading: "Missing fragments",
        is: "The target of a link exists, but does not contain the fragment.",
        advice: "The document exists, but does not contain the fragment, so browsers show its beginning. \
            Correct the part after the #.",
        counted: ("missing fragment", "missing fragments"),
        colour: "35",
        level: "error",
    },
    VerdictText {
        verdict: Verdict::Moved,
        slug: "moved",
        sign: "→",
        heading: "Moved",
        is: "The target of a link has moved.",
        advice: "These links still work. If a target has moved permanently, update the link while the redirect exists.",
        counted: ("moved target", "moved targets"),
        colour: "33",
        level: "warning",
    },
    VerdictText {
        verdict: Verdict::Expiring,
        slug: "expiring",
        sign: "◷",
        heading: "Expired or expiring",
        is: "A document has expired or expires soon.",
        advice: "According to their Expires dates, these documents are or soon will be out of date. Update \
            them, or extend the date.",
        counted: ("expired or expiring document", "expired or expiring documents"),
        colour: "33",
        level: "warning",
    },
    VerdictText {
        verdict: Verdict::Changed,
        slug: "changed",
        sign: "±",
        heading: "Changed",
        is: "A document, or the target of a link, has changed recently.",
        advice: "These have changed recently. Pages that link to them may need an update.",
        counted: ("changed document or target", "changed documents and targets"),
        colour: "36",
        level: "note",
    },
    VerdictText {
        verdict: Verdict::NotTested,
        slug: "not-tested",
        sign: "?",
        heading: "Not tested",
        is: "A link could not be tested.",
        advice: "These links could not be checked, for the reason given.",
        counted: ("target not tested", "targets not tested"),
        colour: "2",
        level: "note",
    },
];

/// Returns the wording of a verdict; `None` for `Good`.
pub(crate) fn wording(verdict: Verdict) -> Option<&'static VerdictText> {
    VERDICTS.iter().find(|wording| wording.verdict == verdict)
}

/// Returns a summary's number of targets, or documents, with a verdict.
pub(super) fn count(summary: &Summary, verdict: Verdict) -> u64 {
    match verdict {
        Verdict::Broken => summary.broken,
        Verdict::Fragment => summary.fragments,
        Verdict::Moved => summary.moved,
        Verdict::Changed => summary.changed,
        Verdict::Expiring => summary.expiring,
        Verdict::NotTested => summary.not_tested,
        Verdict::Good => 0,
    }
}

/// Formats a number with separators.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its unit.
pub(crate) fn counted(n: u64, (one, many): (&str, &str)) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

/// Formats a size in bytes.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    for (unit, name) in UNITS {
        if bytes >= unit {
            let tenths = bytes / (unit / 10);
            return format!("{}.{} {name}", number(tenths / 10), tenths % 10);
        }
    }
    counted(bytes, ("byte", "bytes"))
}

/// Formats a date.
pub(crate) fn day(at: Timestamp) -> impl fmt::Display {
    at.strftime("%Y-%m-%d")
}

/// Formats a date with the time in minutes.
pub(super) fn minute(at: Timestamp) -> impl fmt::Display {
    at.strftime("%Y-%m-%d %H:%M UTC")
}

/// Formats a duration, in the two largest units.
pub(super) fn took(began: Timestamp, ended: Timestamp) -> String {
    let seconds = ended.as_second().saturating_sub(began.as_second()).max(0);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => "less than a second".to_owned(),
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{} h {m} min", number(h.unsigned_abs())),
    }
}

/// Formats the date since when something applies, and the number of days.
pub(super) fn since(at: Timestamp, now: Timestamp) -> String {
    match now.as_second().saturating_sub(at.as_second()) / 86_400 {
        days @ 1.. => format!("since {} ({})", day(at), counted(days.unsigned_abs(), ("day", "days"))),
        _ => format!("since {}", day(at)),
    }
}

/// Formats the number of pages that link to a target; a link on most pages is in the site's template.
pub(crate) fn spread(target: &Target, documents: u64) -> String {
    match target.pages {
        pages if target.is_site_wide => {
            format!("on {} of {} pages: in the site's template", number(pages), number(documents))
        }
        pages => format!("on {}", counted(pages, ("page", "pages"))),
    }
}

/// Formats the changes of findings since an earlier run.
pub(crate) fn since_before(summary: &Summary) -> String {
    let Summary { new, fixed, removed, unchecked, .. } = summary;
    let mut text = format!("{} new, {} fixed, {} removed", number(*new), number(*fixed), number(*removed));
    if *unchecked > 0 {
        text.push_str(&format!(", {} not checked again", number(*unchecked)));
    }
    text
}

/// Formats the target of a link with its fragment.
pub(super) fn aim(target: &str, fragment: Option<&str>) -> String {
    match fragment {
        Some(fragment) => format!("{target}#{fragment}"),
        None => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_put_as_people_read_them() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_000), "1,000");
        assert_eq!(number(532_676), "532,676");
        assert_eq!(size(1), "1 byte");
        assert_eq!(size(999), "999 bytes");
        assert_eq!(size(12_345), "12.3 kB");
        assert_eq!(size(126_600_000), "126.6 MB");
        assert_eq!(size(4_000_000_000_000), "4,000.0 GB");
    }

    #[test]
    fn times_are_put_as_people_read_them() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        let now = at("2026-11-16T05:45:12Z");
        assert_eq!(minute(now).to_string(), "2026-11-16 05:45 UTC");
        assert_eq!(since(at("2026-11-03T00:00:00Z"), now), "since 2026-11-03 (13 days)");
        assert_eq!(since(at("2026-11-16T05:00:00Z"), now), "since 2026-11-16");
        assert_eq!(since(at("2027-01-01T05:00:00Z"), now), "since 2027-01-01");
        assert_eq!(took(at("2026-11-16T05:45:12Z"), now), "less than a second");
        assert_eq!(took(at("2026-11-16T05:43:02Z"), now), "2 min 10 s");
        assert_eq!(took(at("2026-11-15T05:43:02Z"), now), "24 h 2 min");
        assert_eq!(took(now, at("2026-11-15T05:43:02Z")), "less than a second");
    }

    #[test]
    fn everything_but_good_is_told_once() {
        let all = [
            Verdict::Broken,
            Verdict::Fragment,
            Verdict::Moved,
            Verdict::Changed,
            Verdict::Expiring,
            Verdict::NotTested,
        ];
        assert_eq!(VERDICTS.len(), all.len());
        for verdict in all {
            let wording = wording(verdict).expect("it is wording");
            assert_eq!(wording.slug, verdict.name().replace(' ', "-"));
            assert_eq!(wording.is_fault(), matches!(verdict, Verdict::Broken | Verdict::Fragment));
        }
        assert!(wording(Verdict::Good).is_none());
    }
}
