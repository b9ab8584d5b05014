//! Reads access logs in the common or combined format: the URLs of successful requests.
//!
//! Logs are streamed line by line; compressed logs, too. An invalid line is counted and skipped.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// The maximum length of a line. Longer ones are not lines of a log.
const LONGEST: u64 = 64 * 1024;

/// The number of lines read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// All lines.
    pub all: u64,
    /// Lines of a GET request that returned the resource.
    pub delivered: u64,
    /// Invalid lines.
    pub odd: u64,
}

/// Calls `each` with the target of every GET request with status 200, 206 or 304.
pub fn read(log: impl Read, mut each: impl FnMut(&str)) -> io::Result<Lines> {
    let mut log = BufReader::with_capacity(256 * 1024, log);
    if log.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        read_lines(BufReader::with_capacity(256 * 1024, MultiGzDecoder::new(log)), &mut each)
    } else {
        read_lines(log, &mut each)
    }
}

fn read_lines(mut log: impl BufRead, each: &mut dyn FnMut(&str)) -> io::Result<Lines> {
    let mut lines = Lines::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = (&mut log).take(LONGEST).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(lines);
        }
        lines.all += 1;
        if length as u64 == LONGEST && line.last() != Some(&b'\n') {
            lines.odd += 1;
            skip_line(&mut log)?;
            continue;
        }
        match request(&line) {
            Some((b"GET", target, 200 | 206 | 304)) => {
                lines.delivered += 1;
                each(target);
            }
            Some(_) => {}
            None if line.trim_ascii().is_empty() => {}
            None => lines.odd += 1,
        }
    }
}

fn skip_line(log: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = log.fill_buf()?;
        let end = memchr::memchr(b'\n', buffer);
        let (used, is_end) = (end.map_or(buffer.len(), |end| end + 1), end.is_some() || buffer.is_empty());
        log.consume(used);
        if is_end {
            return Ok(());
        }
    }
}

/// Returns method, target and status: the text between the first quotes, and the number after them. A host before it,
/// or a referrer and browser after it, do not matter.
fn request(line: &[u8]) -> Option<(&[u8], &str, u16)> {
    let begin = memchr::memchr(b'"', line)? + 1;
    let mut end = begin;
    loop {
        end += memchr::memchr(b'"', line.get(end..)?)?;
        if line[end - 1] != b'\\' {
            break;
        }
        end += 1;
    }
    let mut words = line[begin..end].split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let (method, target) = (words.next()?, words.next()?);
    let status = line[end + 1..].trim_ascii_start();
    let status = std::str::from_utf8(status.get(..3)?).ok()?.parse().ok()?;
    Some((method, std::str::from_utf8(target).ok()?, status))
}

#[cfg(test)]
mod checks {
    use std::io::Write as _;

    use super::*;

    const LOG: &str = "\
        1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a.html HTTP/1.0\" 200 2326\n\
        h:80 ::1 - me [10/Oct/2000:13:55:36 -0700] \"GET /b?x=\\\"1\\\" HTTP/1.1\" 304 0 \"http://r/\" \"A \\\"browser\\\"\"\n\
        1.2.3.4 - - [x] \"GET /missing HTTP/1.1\" 404 1\n\
        1.2.3.4 - - [x] \"POST /form HTTP/1.1\" 200 1\n\
        1.2.3.4 - - [x] \"-\" 408 -\n\
        \n\
        nonsense\n\
        1.2.3.4 - - [x] \"GET /last HTTP/1.1\" 206 1";

    fn targets(log: &[u8]) -> (Vec<String>, Lines) {
        let mut targets = Vec::new();
        let lines = read(log, |target| targets.push(target.to_owned())).expect("readable");
        (targets, lines)
    }

    #[test]
    fn what_was_sent_is_told() {
        let delivered = targets(LOG.as_bytes());
        assert_eq!(delivered.0, ["/a.html", "/b?x=\\\"1\\\"", "/last"]);
        assert_eq!(delivered.1, Lines { all: 8, delivered: 3, odd: 2 });
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(LOG.as_bytes()).expect("memory");
        assert_eq!(targets(&packer.finish().expect("memory")), delivered);
    }

    #[test]
    fn an_endless_line_is_one_odd_line() {
        let log = format!("{}\n1 - - [x] \"GET /a HTTP/1.1\" 200 1\n", "\"".repeat(300_000));
        let (delivered, lines) = targets(log.as_bytes());
        assert_eq!((delivered.len(), lines.all, lines.odd), (1, 2, 1));
    }
}
