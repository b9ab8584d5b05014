//! What must hold for every input: round trips, and answers that read the same however they are cut.

use modoai_protocol::query::{self, Arguments};
use modoai_protocol::token::ListToken;
use modoai_protocol::xml::reader::{Event, Limits, ReadError, Reader};
use modoai_protocol::xml::{Response, XmlWriter, envelope};
use modoai_protocol::{
    Bound, Datestamp, ErrorCode, ListVerb, Listing, MetadataPrefix, ProtocolError, Range, Request, Selection, SetSpec,
    Token, TokenKey, Verb,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// An answer with something of everything, to be damaged.
const ANSWER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE OAI-PMH SYSTEM "x"><?style sheet?>
<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:o="http://www.openarchives.org/OAI/2.0/">
<responseDate>2002-02-08T12:00:01Z</responseDate><request verb="ListRecords" set='a"b'>http://a/?x&amp;&#x79;</request>
<error code="x">no <![CDATA[<b>]] & ]]]>é</error><junk>x</junk> text
<Identify><repositoryName>R</repositoryName><description><d xmlns="urn:d"/></description></Identify>
<ListMetadataFormats><metadataFormat><metadataPrefix>p</metadataPrefix></metadataFormat></ListMetadataFormats>
<ListSets><set><setSpec>a:b</setSpec><setName>A</setName><setDescription><d/></setDescription></set></ListSets>
<ListRecords><o:record><header status="deleted"><identifier>1</identifier><setSpec>a</setSpec></header>
<metadata><m:m xmlns:m='urn:m' a=">"><m:n/>&x;<![CDATA[]]]]><!-- - -- ]]> --><?p ?x?>é</m:m ></metadata>
<about><r/></about></o:record><resumptionToken cursor="0">t</resumptionToken></ListRecords>
</OAI-PMH>
<!-- end -->
"#;

/// What markup is made of, the tricky parts above all.
const FRAGMENTS: &[&str] = &[
    "<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'>",
    "</OAI-PMH>",
    "<GetRecord><record><metadata>",
    "</metadata></record></GetRecord>",
    "<error>",
    "</error>",
    "<a b='c'>",
    "</a>",
    "<a/>",
    "<",
    ">",
    "<!--",
    "--",
    "-->",
    "<![CDATA[",
    "]",
    "]]>",
    "<?",
    "?>",
    "<!DOCTYPE",
    "&amp;",
    "&",
    ";",
    "'",
    "\"",
    "=",
    " ",
    "\r",
    "\n",
    "é",
    "\u{feff}",
    "x",
];

/// The events of an answer pushed in these pieces, and how it ended.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: Limits) -> (Vec<String>, Result<(), ReadError>) {
    let mut events = Vec::new();
    let mut part: Option<Vec<u8>> = None;
    let mut reader = Reader::new(limits);
    let mut sink = |event: Event<'_>| match event {
        Event::PartBytes(bytes) => {
            assert!(!bytes.is_empty(), "a piece of nothing");
            part.get_or_insert_default().extend_from_slice(bytes);
        }
        event => {
            events.extend(part.take().map(|bytes| format!("{bytes:?}")));
            events.push(format!("{event:?}"));
        }
    };
    let outcome = pieces.into_iter().try_for_each(|piece| reader.push(piece, &mut sink));
    assert!(reader.held() <= 20 * (limits.tag + limits.text) + 4096, "{} bytes held", reader.held());
    (events, outcome.and_then(|()| reader.finish()))
}

/// Cuts `bytes` at these places.
fn cut<'a>(bytes: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn cuts_make_no_difference(bytes: &[u8], places: &[Index], limits: Limits) {
    let whole = read([bytes], limits);
    assert_eq!(read(cut(bytes, places), limits), whole, "cut");
    assert_eq!(read(bytes.chunks(1), limits), whole, "byte by byte");
}

#[test]
fn the_answer_to_be_damaged_is_whole() {
    assert_eq!(read([ANSWER.as_bytes()], Limits::default()).1, Ok(()));
}

const SMALL: Limits = Limits { tag: 130, text: 60, depth: 6, namespaces: 3 };

proptest! {
    #[test]
    fn a_damaged_answer_reads_the_same_however_it_is_cut(
        edits in vec((any::<Index>(), 0_usize..4, "[<>&;'\"/!?=a \\[\\]-]{0,3}"), 0..4),
        places in vec(any::<Index>(), 0..20),
        small in any::<bool>(),
    ) {
        let mut bytes = ANSWER.as_bytes().to_vec();
        for (place, removed, inserted) in edits {
            let from = place.index(bytes.len());
            let to = bytes.len().min(from + removed);
            bytes.splice(from..to, inserted.into_bytes());
        }
        cuts_make_no_difference(&bytes, &places, if small { SMALL } else { Limits::default() });
    }

    #[test]
    fn any_heap_of_markup_reads_the_same_however_it_is_cut(
        fragments in vec(select(FRAGMENTS), 0..30),
        rooted in any::<bool>(),
        places in vec(any::<Index>(), 0..8),
        small in any::<bool>(),
    ) {
        let text = if rooted { FRAGMENTS[0] } else { "" }.to_owned() + &fragments.concat();
        cuts_make_no_difference(text.as_bytes(), &places, if small { SMALL } else { Limits::default() });
    }

    #[test]
    fn what_is_written_reads_back(message in any::<String>(), controls in "[\\x00-\\x20<&>\"'\u{fffe}\u{ffff}é]*") {
        let message = message + &controls;
        let sent = vec![("verb".to_owned(), message.clone())];
        let errors = [ProtocolError::new(ErrorCode::IdDoesNotExist, message.clone())];
        let mut written = Vec::new();
        let mut xml = XmlWriter::new(&mut written);
        envelope::errors(&mut xml, Datestamp::from_unix(0), &message, &sent, &errors);
        xml.finish().expect("a Vec takes everything");
        // What XML cannot carry is replaced, and nothing else.
        let carried: String = message
            .chars()
            .map(|c| match c {
                '\t' | '\n' | '\r' => c,
                '\0'..' ' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
                c => c,
            })
            .collect();
        let read = Response::read(&written).expect("what we write is well-formed");
        prop_assert_eq!(&read.errors, &[("idDoesNotExist".to_owned(), carried.clone())]);
        prop_assert_eq!(&read.arguments, &[("verb".to_owned(), carried.clone())]);
        prop_assert_eq!(read.url, carried);
        prop_assert_eq!(read.response_date, "1970-01-01T00:00:00Z");
    }

    #[test]
    fn text_reads_the_same_however_it_is_quoted(
        runs in vec(("[\\]>?x -]{0,6}", select(vec!["text", "reference", "cdata"])), 0..6),
        between in select(vec!["", "<!---->", "<!-->-]]>x-->", "<!-- x --->", "<?p?>", "<?p ?x>?>", "<b>-</b>", "<b/>"]),
        places in vec(any::<Index>(), 0..8),
    ) {
        let mut answer = format!("{}<error>", FRAGMENTS[0]);
        for (text, quoting) in &runs {
            answer += &match *quoting {
                "reference" => text.chars().map(|c| format!("&#{};", u32::from(c))).collect(),
                "cdata" => format!("<![CDATA[{}]]>", text.replace("]]>", "]]]]><![CDATA[>")),
                _ => text.clone(),
            };
            answer += between;
        }
        answer += "</error></OAI-PMH>";
        let meant: String = runs.into_iter().map(|(text, _)| text).collect();
        let read = Response::read(answer.as_bytes()).expect(&answer);
        prop_assert_eq!(&read.errors, &[(String::new(), meant)], "{}", answer);
        cuts_make_no_difference(answer.as_bytes(), &places, Limits::default());
    }

    #[test]
    fn a_legal_request_survives_the_wire(request in request()) {
        let arguments = request.arguments();
        prop_assert_eq!(Request::parse(&arguments), Ok(request));
        let sent = query::render(arguments.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        prop_assert_eq!(query::parse(sent.as_bytes()), Ok(arguments));
    }

    #[test]
    fn whatever_parses_is_sent_again_as_it_was_meant(arguments in arguments()) {
        if let Ok(request) = Request::parse(&arguments) {
            prop_assert_eq!(Request::parse(&request.arguments()), Ok(request));
        }
    }

    #[test]
    fn a_token_opens_to_what_was_sealed(token in token(), secret in any::<[u8; 32]>(), other in any::<[u8; 32]>()) {
        let sealed = token.seal(&TokenKey::new(secret));
        prop_assert_eq!(Token::open(&sealed, &TokenKey::new(secret)), Some(token));
        prop_assert_eq!(secret == other, Token::open(&sealed, &TokenKey::new(other)).is_some());
    }

    #[test]
    fn junk_is_no_token(junk in "[A-Za-z0-9_-]{0,200}", key in any::<[u8; 32]>()) {
        prop_assert_eq!(Token::open(&junk, &TokenKey::new(key)), None);
    }
}

const NAME: &str = "[A-Za-z0-9_.!~*'()-]{1,12}";

fn prefix() -> impl Strategy<Value = MetadataPrefix> {
    NAME.prop_map(|name| MetadataPrefix::parse(&name).expect("legal"))
}

fn set() -> impl Strategy<Value = SetSpec> {
    vec(NAME, 1..4).prop_map(|levels| SetSpec::parse(&levels.join(":")).expect("legal"))
}

fn datestamp() -> impl Strategy<Value = Datestamp> {
    (Datestamp::MIN.unix()..=Datestamp::MAX.unix()).prop_map(Datestamp::from_unix)
}

/// From and until, in the same form and in order, as they must be.
fn bounds() -> impl Strategy<Value = (Option<Bound>, Option<Bound>)> {
    (datestamp(), datestamp(), any::<bool>(), any::<[bool; 2]>()).prop_map(|(one, other, day, [from, until])| {
        let length = if day { 10 } else { 20 };
        let bound = |datestamp: Datestamp| Bound::parse(&datestamp.to_string()[..length]).expect("legal");
        (from.then(|| bound(one.min(other))), until.then(|| bound(one.max(other))))
    })
}

fn request() -> impl Strategy<Value = Request> {
    let text = || "\\PC{1,20}";
    let list_verb = || select(vec![ListVerb::Identifiers, ListVerb::Records]);
    let selection = (prefix(), proptest::option::of(set()), bounds())
        .prop_map(|(prefix, set, (from, until))| Listing::Select(Selection { prefix, set, from, until }));
    let listing = prop_oneof![selection, text().prop_map(Listing::Resume)];
    prop_oneof![
        Just(Request::Identify),
        (text(), prefix()).prop_map(|(identifier, prefix)| Request::GetRecord { identifier, prefix }),
        (list_verb(), listing).prop_map(|(verb, listing)| Request::List { verb, listing }),
        proptest::option::of(text()).prop_map(|identifier| Request::ListMetadataFormats { identifier }),
        proptest::option::of(text()).prop_map(|token| Request::ListSets { token }),
    ]
}

/// Arguments that have a fair chance to be legal.
fn arguments() -> impl Strategy<Value = Arguments> {
    let names = vec!["identifier", "metadataPrefix", "from", "until", "set", "resumptionToken", "verb", "junk"];
    let values = vec!["a", "a:b", "2002-02-05", "2002-02-06T05:35:00Z", "", "é &="];
    let pairs = vec((select(names), select(values)), 0..4);
    (select(Verb::ALL.to_vec()), pairs).prop_map(|(verb, pairs)| {
        let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        std::iter::once(("verb".to_owned(), verb.to_string())).chain(pairs).collect()
    })
}

fn token() -> impl Strategy<Value = Token> {
    let verb = select(vec![ListVerb::Identifiers, ListVerb::Records]);
    let range = (datestamp(), datestamp()).prop_map(|(first, last)| Range { first, last });
    let place = (datestamp(), any::<i64>());
    let size = proptest::option::of(0..u64::MAX);
    let list = (verb, prefix(), proptest::option::of(set()), range, place, any::<u64>(), size, any::<u64>()).prop_map(
        |(verb, prefix, set, range, after, cursor, size, epoch)| {
            Token::List(ListToken { verb, prefix, set, range, after, cursor, size, epoch })
        },
    );
    prop_oneof![list, (set(), any::<u64>()).prop_map(|(after, cursor)| Token::Sets { after, cursor })]
}
