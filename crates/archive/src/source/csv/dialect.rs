//! Detects the format of a table: its encoding, and the separator of its columns.
//!
//! Spreadsheets export in the format of their system: windows-1252 or UTF-16, semicolons or tabs. The beginning of the
//! file determines both, so that a stream can be read once; `encoding` and `separator` in `[source]` override it.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use ::csv::{ByteRecord, ReaderBuilder};
use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The number of bytes of a file that are examined.
const HEAD: usize = 64 * 1024;

/// Characters that separate columns, the usual one first.
const SEPARATORS: [u8; 3] = *b",;\t";

/// A table as UTF-8, and its original format.
pub(super) struct Opened {
    pub(super) file: Box<dyn BufRead + Send>,
    pub(super) encoding: &'static Encoding,
    pub(super) separator: u8,
}

/// The properties of a table that are known before it is opened.
pub(super) struct Expected<'a> {
    pub(super) encoding: Option<&'static Encoding>,
    pub(super) separator: Option<u8>,
    /// Columns that the table must have.
    pub(super) columns: &'a [String],
}

/// Decodes a table. Text in UTF-8 passes unchanged: a row that is not UTF-8 is rejected later, and the others are read.
pub(super) fn open(mut file: Box<dyn BufRead + Send>, expected: &Expected<'_>) -> io::Result<Opened> {
    let mut head = Vec::new();
    (&mut file).take(HEAD as u64).read_to_end(&mut head)?;
    let (encoding, mark) = match Encoding::for_bom(&head) {
        Some(found) => found,
        None => (expected.encoding.unwrap_or_else(|| encoding_of(&head)), 0),
    };
    let start = if encoding == UTF_8 {
        head[mark..].to_vec()
    } else {
        encoding.decode_without_bom_handling(&head[mark..]).0.into_owned().into_bytes()
    };
    let separator = expected.separator.unwrap_or_else(|| separator_of(&start, expected.columns));
    let raw = Cursor::new(head.split_off(mark)).chain(file);
    let file: Box<dyn BufRead + Send> = if encoding == UTF_8 {
        Box::new(raw)
    } else {
        let decoder = encoding.new_decoder_without_bom_handling();
        Box::new(BufReader::new(Decoded { raw, decoder, encoding, text: Vec::new(), read: 0, is_over: false }))
    };
    Ok(Opened { file, encoding, separator })
}

/// Returns the encoding of a file without a byte order mark. A file with any valid multi-byte character of UTF-8 is
/// UTF-8, even if other bytes of it are not.
fn encoding_of(head: &[u8]) -> &'static Encoding {
    let zeros = |from: usize| head.iter().skip(from).step_by(2).take(200).filter(|byte| **byte == 0).count();
    match (zeros(0), zeros(1)) {
        (0, odd) if odd > head.len().min(400) / 4 => return UTF_16LE,
        (even, 0) if even > head.len().min(400) / 4 => return UTF_16BE,
        _ => {}
    }
    // A character may be split at the end of the examined bytes.
    let whole = if head.len() == HEAD { &head[..HEAD - 3] } else { head };
    let is_utf8 = whole.utf8_chunks().all(|chunk| chunk.invalid().is_empty());
    let has_utf8 = || whole.utf8_chunks().any(|chunk| !chunk.valid().is_ascii());
    if is_utf8 || has_utf8() { UTF_8 } else { WINDOWS_1252 }
}

/// Returns the separator with which the first row has all expected columns; if none has, the one with the most columns.
fn separator_of(start: &[u8], columns: &[String]) -> u8 {
    let first_row = |separator: u8| {
        let mut row = ByteRecord::new();
        let mut reader = ReaderBuilder::new().delimiter(separator).has_headers(false).from_reader(start);
        // Errors in the row are reported when the table is read.
        let _ = reader.read_byte_record(&mut row);
        row
    };
    let has_all =
        |row: &ByteRecord| columns.iter().all(|name| row.iter().any(|cell| cell.trim_ascii() == name.as_bytes()));
    let fitting = SEPARATORS.into_iter().find(|&separator| has_all(&first_row(separator)));
    // The first of equal ones, so a table of one column has commas.
    let widest = || SEPARATORS.into_iter().rev().max_by_key(|&separator| first_row(separator).len());
    fitting.or_else(widest).unwrap_or(SEPARATORS[0])
}

/// Text in another encoding, converted to UTF-8.
struct Decoded<R> {
    raw: R,
    decoder: Decoder,
    encoding: &'static Encoding,
    /// Decoded text, and the number of its bytes that have been read.
    text: Vec<u8>,
    read: usize,
    /// The end of the file has been decoded; the decoder must not be used again.
    is_over: bool,
}

impl<R: BufRead> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.text.len() {
            if self.is_over {
                return Ok(0);
            }
            let bytes = self.raw.fill_buf()?;
            let is_last = bytes.is_empty();
            let most = self.decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(usize::MAX);
            self.text.resize(most.clamp(16, 4 * HEAD), 0);
            let (result, consumed, written) =
                self.decoder.decode_to_utf8_without_replacement(bytes, &mut self.text, is_last);
            self.is_over = is_last && matches!(result, DecoderResult::InputEmpty);
            if let DecoderResult::Malformed(..) = result {
                self.is_over = true;
                self.text.clear();
                self.read = 0;
                let what = format!("it is not valid {}", self.encoding.name());
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            self.text.truncate(written);
            self.read = 0;
            self.raw.consume(consumed);
        }
        let length = buffer.len().min(self.text.len() - self.read);
        buffer[..length].copy_from_slice(&self.text[self.read..][..length]);
        self.read += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(bytes: &[u8]) -> (String, &'static str, char) {
        let columns = ["identifier".to_owned()];
        let expected = Expected { encoding: None, separator: None, columns: &columns };
        let mut opened = open(Box::new(Cursor::new(bytes.to_vec())), &expected).expect("it can be read");
        let mut text = Vec::new();
        opened.file.read_to_end(&mut text).expect("it can be decoded");
        (String::from_utf8_lossy(&text).into_owned(), opened.encoding.name(), opened.separator.into())
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn encodings_and_separators_of_spreadsheets_are_detected() {
        let table = "identifier;title\r\n1;Müller – „Straße“\r\n";
        let cp1252 = WINDOWS_1252.encode(table).0.into_owned();
        let marked = format!("\u{feff}{table}");
        for (bytes, encoding) in [
            (table.as_bytes().to_vec(), "UTF-8"),
            (marked.as_bytes().to_vec(), "UTF-8"),
            (cp1252, "windows-1252"),
            (utf16(&marked, u16::to_le_bytes), "UTF-16LE"),
            (utf16(&marked, u16::to_be_bytes), "UTF-16BE"),
            (utf16(table, u16::to_le_bytes), "UTF-16LE"),
            (utf16(table, u16::to_be_bytes), "UTF-16BE"),
        ] {
            assert_eq!(opened(&bytes), (table.to_owned(), encoding, ';'), "{encoding}");
        }
        for (header, separator) in [
            ("identifier,title;subtitle", ','),
            ("title\tidentifier", '\t'),
            ("\"a;b;c;d\",identifier", ','),
            ("identifier", ','),
            ("nr;titel", ';'),
            ("", ','),
        ] {
            assert_eq!(opened(header.as_bytes()).2, separator, "{header:?}");
        }
    }

    #[test]
    fn one_damaged_row_does_not_change_the_encoding_of_a_utf8_table() {
        assert_eq!(opened("identifier\nä\n".as_bytes()).1, "UTF-8");
        assert_eq!(opened(b"identifier\n\xc3\xa4\n\xe4\n").1, "UTF-8");
        assert_eq!(opened(b"identifier\n\xe4\n").1, "windows-1252");
    }

    #[test]
    fn character_cut_at_the_end_of_the_head_is_whole() {
        for padding in 0..4 {
            let table = format!("identifier\n{}{}", "x".repeat(HEAD - 13 + padding), "ä€😀".repeat(50));
            assert_eq!(opened(table.as_bytes()), (table.clone(), "UTF-8", ','));
            let wide = utf16(&table, u16::to_le_bytes);
            assert_eq!(opened(&wide), (table, "UTF-16LE", ','));
        }
    }

    #[test]
    fn half_a_character_at_the_end_of_utf16_is_an_error() {
        let expected = Expected { encoding: None, separator: None, columns: &[] };
        let bytes = [&[0xff, 0xfe][..], &utf16("identifier\nx", u16::to_le_bytes), &[0x3d, 0xd8]].concat();
        let mut opened = open(Box::new(Cursor::new(bytes)), &expected).expect("it begins well");
        let error = opened.file.read_to_end(&mut Vec::new()).expect_err("half a pair");
        assert_eq!(error.to_string(), "it is not valid UTF-16LE");
    }
}
