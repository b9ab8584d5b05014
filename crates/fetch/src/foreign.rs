//! Characters in foreign text that must not be displayed unescaped.
//!
//! Titles, identifiers, URLs and error messages are written by untrusted parties, and are shown on terminals, in logs,
//! in mail and on web pages. Harvester, spider and command line all read such text through this crate, so it holds the
//! only list of these characters.

/// Returns true for a character that is not visible, but changes or hides other characters: controls, bidirectional
/// formatting (U+202E and others), zero-width spaces, line separators, tags, and code points that Unicode reserves for
/// internal use of programs. [Joiners](is_joiner) are not among them.
pub fn is_invisible(c: char) -> bool {
    is_senseless(c)
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns true for controls, and for code points that Unicode reserves for internal use: XML forbids most of them.
pub fn is_senseless(c: char) -> bool {
    c.is_control() || matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

/// Returns true for the soft hyphen and the two joiners. Words of Persian and Hindi are spelt with them, so prose keeps
/// them. In an address they would hide a difference.
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reorders_or_hides_text_is_invisible() {
        for c in ['\0', '\n', '\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{e0041}']
        {
            assert!(is_invisible(c), "{c:?}");
        }
        for c in ['a', ' ', 'é', 'ש', '🚲', '\u{200c}', '\u{200d}', '\u{fffd}'] {
            assert!(!is_invisible(c), "{c:?}");
        }
    }
}
