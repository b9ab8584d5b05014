//! What is found in DIDL documents, ours and others', however they are cut.

use modoai_harvester::didl::{Algorithm, Component, DidlError, Found, Reader, Stopped, Value};
use proptest::prelude::*;

use super::feeding::Made;

/// Each Component with its bytes, and how the reading ended.
fn read(document: &[u8], cuts: &[usize], inherited: &[(&str, &str)]) -> (Vec<(Component, Vec<u8>)>, Option<String>) {
    let (mut found, mut value) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(inherited);
    let mut rest = document;
    for cut in cuts.iter().cycle().copied().chain([usize::MAX]) {
        let (piece, after) = rest.split_at(cut.max(1).min(rest.len()));
        let pushed = reader.push(piece, &mut |item| {
            match item {
                Found::Value(bytes) => value.extend_from_slice(bytes),
                Found::Component(component) => found.push((component, std::mem::take(&mut value))),
            }
            Ok::<(), ()>(())
        });
        match pushed {
            Ok(()) => {}
            Err(Stopped::Didl(error)) => return (found, Some(error.to_string())),
            Err(Stopped::Told(())) => unreachable!("nothing is refused"),
        }
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let end = reader.finish().err().map(|error| error.to_string());
    (found, end)
}

fn whole(document: &str) -> (Vec<(Component, Vec<u8>)>, Option<String>) {
    read(document.as_bytes(), &[usize::MAX], &[])
}

/// A document around the content of a Component, with a prefix of its own.
fn component(content: &str) -> String {
    format!(
        "<x:DIDL xmlns:x='urn:mpeg:mpeg21:2002:02-DIDL-NS'><x:Item><x:Component>{content}</x:Component></x:Item></x:DIDL>"
    )
}

#[test]
fn our_own_are_read_whole() {
    let made = Made::new("http://h/a&b", b"hello");
    let (found, end) = whole(&made.to_xml());
    assert_eq!(end, None);
    let [(component, bytes)] = &found[..] else { panic!("one Component: {found:?}") };
    assert_eq!(bytes, b"hello");
    assert_eq!(component.identifier.as_deref(), Some("http://h/a&b"));
    assert_eq!(component.references, ["http://h/a&b"]);
    assert_eq!(component.header("content-length"), Some("5"));
    assert_eq!(component.digest().map(|digest| digest.algorithm), Some(Algorithm::Sha256));
    assert_eq!((component.media_type.as_deref(), &component.value), (Some("text/plain"), &Value::Whole));
}

#[test]
fn values_come_in_many_shapes() {
    let value = |content: &str| {
        let (found, end) = whole(&component(content));
        assert_eq!(end, None, "{content}");
        found.into_iter().next().map(|(component, bytes)| (component.value, bytes)).expect("a Component")
    };
    let is = |content: &str, bytes: &[u8]| assert_eq!(value(content), (Value::Whole, bytes.to_vec()), "{content}");
    is("<x:Resource mimeType='a/b' encoding='base64'> aGVs\r\n bG8= \n</x:Resource>", b"hello");
    is("<x:Resource mimeType='a/b' encoding='BASE64'/>", b"");
    is("<x:Resource mimeType='a/b'>a &lt;&#x62;&gt;<![CDATA[ &c; ]]>\r\n</x:Resource>", b"a <b> &c; \n");
    is("<x:Resource mimeType='a/b' encoding='base64'>a<!-- -->G<?x?>k=</x:Resource>", b"hi");
    is("<x:Resource mimeType='a/b'>one</x:Resource><x:Resource mimeType='a/b'>two</x:Resource>", b"one");
    for content in [
        "<x:Resource mimeType='a/b'> <y/> </x:Resource>",
        "<x:Resource mimeType='a/b' encoding='base64' contentEncoding='gzip'>H4sI</x:Resource>",
        "<x:Resource mimeType='a/b' encoding='uuencode'>#</x:Resource>",
    ] {
        assert!(matches!(value(content).0, Value::Other(_)), "{content}");
    }
    assert_eq!(value("<x:Resource mimeType='a/b' ref='http://h/'/>").0, Value::None);
}

#[test]
fn what_is_wrong_is_named() {
    let fails = |document: &str, with: &str| {
        let (_, end) = whole(document);
        assert!(end.as_deref().is_some_and(|error| error.contains(with)), "{document}: {end:?}");
    };
    for bad in ["aGVsbG8", "aGV*bG8=", "aGVsbG8=aGk=", "aGk=\n aGk=", "=", "aGVsbG9="] {
        fails(&component(&format!("<x:Resource encoding='base64'>{bad}</x:Resource>")), "invalid base64");
    }
    fails("<dc xmlns='http://purl.org/dc/'/>", "'dc', not DIDL");
    fails("<x:DIDL xmlns:x='urn:mpeg:mpeg21:2002:02-DIDL-NS'><x:Item></x:DIDL>", "closed as");
    fails("<x:DIDL xmlns:x='urn:mpeg:mpeg21:2002:02-DIDL-NS'><x:Item>", "truncated");
    fails(&component("<x:Resource>a&b</x:Resource>"), "reference");
    fails(&component("<x:Resource>&nbsp;</x:Resource>"), "nbsp");
    let digest = "<x:Descriptor><x:Statement><f:fixity xmlns:f='urn:modoai:fixity:1'><f:digest algorithm='md5'>0g\
        </f:digest></f:fixity></x:Statement></x:Descriptor>";
    fails(&component(digest), "invalid MD5 digest");
    fails(&component(&"<x:Resource ref='http://h/'/>".repeat(20_000)), "limit");
    let many = component("").replace("<x:Component></x:Component>", &"<x:Component/>".repeat(5000));
    fails(&many, "4096 components");
    assert!(DidlError::Base64("x").to_string().contains("base64"));
}

/// The shape of EPrints: Items in the Item, one for each file. And a second Item, which is not read.
#[test]
fn items_within_the_item_are_read() {
    let statement = |url: &str| {
        format!("<Descriptor><Statement mimeType='a/b'><i:Identifier>{url}</i:Identifier></Statement></Descriptor>")
    };
    let document = format!(
        "<DIDL xmlns:i='urn:mpeg:mpeg21:2002:01-DII-NS'><Container><Item>{}<Component><Resource><dc/></Resource>\
         </Component><Item>{}<Component><Resource ref=' http://h/1.pdf '/></Component></Item><Item><Component>\
         <Resource ref='http://h/2.pdf'/></Component></Item></Item><Item><Component/></Item></Container></DIDL>",
        statement("http://h/"),
        statement("http://h/1"),
    );
    let (found, end) = read(document.as_bytes(), &[7], &[("", "urn:mpeg:mpeg21:2002:02-DIDL-NS")]);
    assert_eq!(end, None);
    let told: Vec<_> = found.iter().map(|(one, _)| (one.identifier.as_deref(), one.references.first())).collect();
    let (first, second) = ("http://h/1.pdf".to_owned(), "http://h/2.pdf".to_owned());
    let expected = [(Some("http://h/"), None), (Some("http://h/1"), Some(&first)), (Some("http://h/"), Some(&second))];
    assert_eq!(told, expected);
}

#[test]
fn headers_can_tell_digests() {
    let with = |headers: &str| {
        let statement =
            format!("<x:Descriptor><x:Statement><http_header>{headers}</http_header></x:Statement></x:Descriptor>");
        let (found, end) = whole(&component(&statement));
        assert_eq!(end, None);
        found[0].0.digest().map(ToString::to_string)
    };
    let md5 = "<header name='Content-MD5'>1B2M2Y8AsgTpgAmY7PhCfg==</header>";
    assert_eq!(with(md5).as_deref(), Some("MD5 d41d8cd98f00b204e9800998ecf8427e"));
    assert_eq!(with("<Content-MD5>1B2M2Y8AsgTpgAmY7PhCfg==</Content-MD5>"), with(md5));
    assert_eq!(with(&format!("{md5}<header name='Content-Encoding'>gzip</header>")), None);
    let other = "<header name='Repr-Digest'>unixsum=:30637:, sha=:2jmj7l5rSw0yVb/vlWAYkK/YBwk=:</header>";
    assert_eq!(with(&format!("{md5}{other}")).as_deref(), Some("SHA-1 da39a3ee5e6b4b0d3255bfef95601890afd80709"));
}

proptest! {
    #[test]
    fn cutting_changes_nothing(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        cuts in prop::collection::vec(1_usize..40, 1..20),
        breaks in prop::collection::vec(0_usize..400, 0..6),
        junk in prop::option::of((0_usize..1200, "[&;<>='*\r\n ]{1,3}")),
    ) {
        let mut made = Made::new("http://h/a&b", &bytes);
        if let Some(value) = &mut made.value {
            for at in breaks {
                value.insert_str(at.min(value.len()), "\r\n ");
            }
        }
        let mut document = made.to_xml();
        if let Some((at, junk)) = junk {
            document.insert_str(at.min(document.len()), &junk);
        }
        let (whole, end) = read(document.as_bytes(), &[usize::MAX], &[]);
        let (cut, cut_end) = read(document.as_bytes(), &cuts, &[]);
        prop_assert_eq!(&whole, &cut);
        prop_assert_eq!(end.is_some(), cut_end.is_some());
        if end.is_none() && document == made.to_xml() {
            prop_assert_eq!(&whole[0].1, &bytes);
        }
    }
}
