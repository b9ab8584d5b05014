//! Converts positions in a text to line numbers, in one pass over the text.

use memchr::memchr_iter;

/// Counts the lines of a text. Positions must be requested in order; a position before the last one has the line of the
/// last one.
pub(super) struct Lines<'a> {
    text: &'a [u8],
    counted: usize,
    line: u32,
    first: u32,
}

impl<'a> Lines<'a> {
    /// Creates the count for a text whose first line has this number in the document.
    pub(super) fn from(first: u32, text: &'a str) -> Self {
        Self { text: text.as_bytes(), counted: 0, line: first, first }
    }

    /// Creates the count for a text that is on one line of the document, even if it contains line breaks.
    pub(super) fn all_on(line: u32) -> Self {
        Self { text: &[], counted: 0, line, first: line }
    }

    /// Creates the count for the same text again, with the same first line.
    pub(super) fn again(&self) -> Self {
        Self { text: self.text, counted: 0, line: self.first, first: self.first }
    }

    /// Returns the line of a position.
    pub(super) fn at(&mut self, place: usize) -> u32 {
        let place = place.min(self.text.len());
        if place > self.counted {
            let more = memchr_iter(b'\n', &self.text[self.counted..place]).count();
            self.line = self.line.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
            self.counted = place;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_onwards() {
        let mut lines = Lines::from(1, "a\nb\r\nc");
        assert_eq!([0, 1, 2, 5, 3, 100].map(|place| lines.at(place)), [1, 1, 2, 3, 3, 3]);
        assert_eq!(Lines::all_on(7).at(100), 7);
    }
}
