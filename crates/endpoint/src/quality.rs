//! Lists with quality values, as in Accept and Accept-Encoding.

/// A quality value in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quality(u16);

impl Quality {
    /// Not acceptable.
    pub const ZERO: Self = Self(0);
    /// The least there is.
    pub const LEAST: Self = Self(1);
    const ONE: Self = Self(1000);

    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let thousandths = format!("{fraction:0<3}").parse::<u16>().ok()?;
        match (whole, thousandths) {
            ("0", thousandths) => Some(Self(thousandths)),
            ("1", 0) => Some(Self::ONE),
            _ => None,
        }
    }
}

/// The names in the value of a header in lower case, without parameters, each with its quality; zero where that is
/// unreadable.
pub fn list(value: &str) -> Vec<(String, Quality)> {
    let entry = |entry: &str| {
        let mut pieces = entry.split(';').map(str::trim);
        let name = pieces.next().filter(|name| !name.is_empty())?.to_ascii_lowercase();
        let quality = pieces.find_map(|piece| piece.strip_prefix("q=").or(piece.strip_prefix("Q=")));
        Some((name, quality.map_or(Quality::ONE, |text| Quality::parse(text).unwrap_or(Quality::ZERO))))
    };
    value.split(',').filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualities_are_read_strictly() {
        for (text, thousandths) in [("1", 1000), ("1.000", 1000), ("0", 0), ("0.", 0), ("0.5", 500), ("0.125", 125)] {
            assert_eq!(Quality::parse(text), Some(Quality(thousandths)), "{text}");
        }
        for junk in ["", "2", "1.001", "0.1234", "-1", "0,5", ".5", "1e0"] {
            assert_eq!(Quality::parse(junk), None, "{junk}");
        }
    }
}
