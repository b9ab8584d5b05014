//! A message read back: headers and both bodies. It shares no code with what made it.

/// A message, taken apart.
#[derive(Debug)]
pub(super) struct Parts {
    /// Names and values, unfolded, not decoded.
    pub(super) headers: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) html: String,
}

impl Parts {
    pub(super) fn read(message: &[u8]) -> Self {
        assert!(message.is_ascii(), "a message is ASCII on the wire");
        let message = std::str::from_utf8(message).expect("ASCII");
        for line in message.split("\r\n") {
            assert!(!line.contains(['\r', '\n']), "a lone end of line: {line:?}");
            assert!(line.len() <= 998, "a line that no server need take: {line:?}");
        }
        let (headers, body) = headers(message);
        let kind = value(&headers, "Content-Type").to_owned();
        assert!(kind.starts_with("multipart/alternative"), "{kind}");
        let boundary = kind.split("boundary=").nth(1).expect("a boundary").trim_matches('"');
        let boundary = format!("--{boundary}");
        let mut bodies = body.split(&boundary[..]).skip(1).take(2).map(|part| {
            let (headers, body) = self::headers(part.trim_start());
            (value(&headers, "Content-Type").to_owned(), decoded(value(&headers, "Content-Transfer-Encoding"), body))
        });
        let (first, text) = bodies.next().expect("a first part");
        let (second, html) = bodies.next().expect("a second part");
        assert_eq!((&first[..], &second[..]), ("text/plain; charset=utf-8", "text/html; charset=utf-8"));
        Self { headers, text, html }
    }

    /// The header of that name, which must be there once.
    pub(super) fn header(&self, name: &str) -> &str {
        value(&self.headers, name)
    }
}

fn value<'h>(headers: &'h [(String, String)], name: &str) -> &'h str {
    let mut found = headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
    let (_, value) = found.next().unwrap_or_else(|| panic!("no {name} in {headers:?}"));
    assert!(found.next().is_none(), "{name} twice in {headers:?}");
    value
}

fn headers(part: &str) -> (Vec<(String, String)>, &str) {
    let (head, body) = part.split_once("\r\n\r\n").expect("an empty line");
    let head = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    let line = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("no header: {line:?}"));
        (name.to_owned(), value.to_owned())
    };
    (head.split("\r\n").map(line).collect(), body)
}

fn decoded(encoding: &str, body: &str) -> String {
    let body = body.trim_end_matches("\r\n");
    match encoding {
        "7bit" => body.replace("\r\n", "\n"),
        "quoted-printable" => {
            let joined = body.replace("=\r\n", "").replace("\r\n", "\n");
            let mut bytes = Vec::new();
            let mut rest = joined.as_bytes();
            while let [first, more @ ..] = rest {
                if *first == b'=' {
                    let digits = std::str::from_utf8(&more[..2]).expect("ASCII");
                    bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
                    rest = &more[2..];
                } else {
                    bytes.push(*first);
                    rest = more;
                }
            }
            String::from_utf8(bytes).expect("UTF-8").replace("\r\n", "\n")
        }
        // Only bodies with more foreign letters than others; Python reads those in `smtp.rs`.
        other => panic!("{other} was not expected"),
    }
}
