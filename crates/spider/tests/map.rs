//! Maps and graphs as they are written. The page's program is not run here, but what it reads is read, in the same way.

use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use modoai_spider::map::{write_dot, write_graphml, write_map};
use modoai_spider::reference::Kind;
use modoai_spider::verdict::{Fault, Outcome, Verdict};
use quick_xml::events::Event;
use serde_json::Value;

use crate::made_up_web::{MadeUpWeb, broken, document, good};

const TOP: &str = "https://www.somewhere.example/";
/// What nobody should put into a title, and somebody will.
const HOSTILE: &str =
    "</script><script>alert(1)</script><!-- \" onclick='x' &amp; \\ ]]> \u{202e}\u{0}\u{ffff}\n{{ 7 * 7 }}";

fn map_of(web: &MadeUpWeb) -> String {
    let mut page = Vec::new();
    write_map(web, 0, &mut page).expect("a map");
    String::from_utf8(page).expect("text")
}

/// What the page's program reads.
fn columns_of(page: &str) -> Value {
    let begin = page.find("id=\"web\">").expect("data") + "id=\"web\">".len();
    let end = begin + page[begin..].find("</script>").expect("an end of the data");
    serde_json::from_str(&page[begin..end]).expect("JSON")
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(|number| number.as_i64().expect("a whole number")).collect()
}

fn hostile_web() -> MadeUpWeb {
    let mut page = document(7, &format!("{TOP}a?x=\"><script>&y='"), HOSTILE, 1);
    page.owner = Some(HOSTILE.into());
    let mut bad = broken("javascript:alert(1)", HOSTILE, Kind::Anchor, 3);
    bad.text = HOSTILE.into();
    let odd = document(9, "javascript:alert(2)", HOSTILE, 1);
    let mut wrong = good(1, TOP, "x", 1);
    wrong.verdict = Verdict::Fragment;
    wrong.fragment = Some("</script>".into());
    MadeUpWeb::with(vec![
        (document(1, TOP, "The top", 0), vec![good(7, &page.url, HOSTILE, 1), good(9, &odd.url, "odd", 2)]),
        (page, vec![bad, good(1, TOP, "back", 4)]),
        (odd, vec![wrong]),
    ])
}

#[test]
fn the_same_web_is_the_same_picture() {
    assert_eq!(map_of(&MadeUpWeb::of(400)), map_of(&MadeUpWeb::of(400)));
}

#[test]
fn pages_do_not_overlap_and_lie_in_their_folder() {
    let columns = columns_of(&map_of(&MadeUpWeb::of(1_000)));
    // Numbers are rounded to whole ones: a page is about a hundred wide.
    let discs: Vec<[i64; 3]> = numbers(&columns["folders"]).chunks(3).map(|disc| [disc[0], disc[1], disc[2]]).collect();
    let dot = columns["ring_dot"].as_i64().expect("a number");
    let rings: Vec<[i64; 3]> = numbers(&columns["rings"]).chunks(2).map(|at| [at[0], at[1], dot]).collect();
    assert!(discs.len() >= 1_000 && rings.len() == discs.len());
    for layout in [&discs, &rings] {
        for (index, a) in layout.iter().enumerate() {
            assert!(a[2] > 10, "page {index} is a mere point");
            for b in &layout[index + 1..] {
                let apart = ((a[0] - b[0]) as f64).hypot((a[1] - b[1]) as f64);
                assert!(apart + 4.0 >= (a[2] + b[2]) as f64, "{a:?} and {b:?}");
            }
        }
    }
    let places: Vec<Vec<i64>> = columns["places"].as_array().expect("a list").iter().map(numbers).collect();
    for (page, place) in numbers(&columns["inside"]).into_iter().enumerate() {
        let (disc, place) = (discs[page], &places[place as usize]);
        let away = ((disc[0] - place[0]) as f64).hypot((disc[1] - place[1]) as f64);
        assert!(away + disc[2] as f64 <= place[2] as f64 + 3.0, "{disc:?} sticks out of {place:?}");
    }
    // The top is in the middle of the rings, and what is farther away is farther out.
    let depths = numbers(&columns["depth"]);
    let away = |page: usize| (rings[page][0] as f64).hypot(rings[page][1] as f64);
    let mut order: Vec<usize> = (0..rings.len()).collect();
    order.sort_by(|a, b| away(*a).total_cmp(&away(*b)));
    assert!(order.is_sorted_by_key(|page| depths[*page]));
}

#[test]
fn links_and_addresses_come_out_as_they_went_in() {
    let web = MadeUpWeb::of(300);
    let columns = columns_of(&map_of(&web));
    let mut url: Vec<u16> = Vec::new();
    let rest = columns["rest"].as_array().expect("a list");
    for ((shared, rest), (document, _)) in numbers(&columns["shared"]).into_iter().zip(rest).zip(&web.documents) {
        url.truncate(shared as usize);
        url.extend(rest.as_str().expect("text").encode_utf16());
        assert_eq!(String::from_utf16_lossy(&url), document.url);
    }
    let bytes = STANDARD.decode(columns["links"].as_str().expect("text")).expect("base64");
    let mut bytes = bytes.into_iter();
    let mut number = || {
        let (mut value, mut shift) = (0_i64, 0);
        loop {
            let byte = bytes.next().expect("more bytes");
            value |= i64::from(byte & 127) << shift;
            shift += 7;
            if byte & 128 == 0 {
                return value;
            }
        }
    };
    let nodes = numbers(&columns["nodes"]);
    for (page, (_, references)) in web.documents.iter().enumerate() {
        let mut targets = BTreeSet::new();
        let mut at = 0;
        for nth in 0..number() {
            let distance = number();
            at = if nth == 0 { page as i64 + ((distance >> 1) ^ -(distance & 1)) } else { at + distance + 1 };
            targets.insert(nodes[at as usize]);
        }
        let expected: BTreeSet<i64> = references.iter().filter_map(|reference| reference.node).map(i64::from).collect();
        assert_eq!(targets, expected, "page {page}");
    }
    assert!(bytes.next().is_none());
}

#[test]
fn nothing_that_a_title_says_becomes_part_of_the_page() {
    let page = map_of(&hostile_web());
    assert_eq!(page.matches("<script").count(), 2, "the data and the program");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(
        !page.contains("<!--")
            && !page.contains("href=\"javascript")
            && !page.contains("\u{202e}")
            && !page.contains(">49<")
    );
    // What the browser gets to see is all there, as text.
    let columns = columns_of(&page);
    let title = columns["texts"][columns["titles"][1].as_u64().expect("an index") as usize].as_str().expect("text");
    assert!(title.starts_with("</script><script>alert(1)</script><!-- \" onclick='x' &amp; \\ ]]>"), "{title}");
    let ends = columns["ends"].as_array().expect("a list");
    let texts: HashSet<&str> = columns["texts"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(ends.len(), 2);
    assert!(texts.contains("javascript:alert(1)") && texts.contains(&*format!("{TOP}#</script>")));
}

#[test]
fn a_page_is_as_bad_as_its_worst_link() {
    let mut web = MadeUpWeb::with(vec![(document(0, TOP, "Top", 0), vec![])]);
    let mut add = |name: &str, change: &dyn Fn(&mut modoai_spider::results::Document), verdicts: &[Verdict]| {
        let mut page = document(web.documents.len() as u32, &format!("{TOP}{name}"), name, 1);
        change(&mut page);
        let references = verdicts.iter().map(|verdict| {
            let mut reference = broken("https://other.example/", "?", Kind::Anchor, 1);
            reference.verdict = *verdict;
            reference.is_permanent = *verdict == Verdict::Moved;
            reference
        });
        web.documents.push((page, references.collect()));
    };
    add("a-good", &|_| (), &[Verdict::Good, Verdict::NotTested]);
    add("b-moved", &|page| page.is_changed = true, &[Verdict::Moved, Verdict::Good]);
    add("c-broken", &|_| (), &[Verdict::Moved, Verdict::Broken, Verdict::Fragment]);
    add("d-changed", &|page| page.is_changed = true, &[Verdict::Good]);
    add("e-gone", &|page| page.outcome = Outcome::Broken(Fault::Status(404)), &[]);
    let page = map_of(&web);
    let columns = columns_of(&page);
    assert_eq!(numbers(&columns["verdict"]), [6, 6, 2, 0, 4, 0]);
    assert_eq!(numbers(&columns["gone"]), [5]);
    // Without a program, the list is there, and the worst is first.
    let list = page.find("<ol id=\"list\">").expect("a list");
    let place =
        |name: &str| page[list..].find(&format!(">{name}</a>")).unwrap_or_else(|| panic!("{name} is not listed"));
    assert!(place("c-broken") < place("b-moved") && place("e-gone") < place("b-moved"));
    assert!(!page[list..].contains(">a-good</a>"));
}

#[test]
fn a_moved_address_leads_to_where_it_moved() {
    let mut moved = broken(&format!("{TOP}old"), "moved permanently", Kind::Anchor, 5);
    moved.verdict = Verdict::Moved;
    moved.to = Some(format!("{TOP}new#part"));
    let web = MadeUpWeb::with(vec![
        (document(1, TOP, "Top", 0), vec![moved]),
        (document(2, &format!("{TOP}new"), "New", 1), vec![]),
    ]);
    let columns = columns_of(&map_of(&web));
    assert_eq!(numbers(&columns["parent"]), [-1, 0]);
    let mut dot = Vec::new();
    write_dot(&web, 0, &mut dot).expect("a graph");
    assert!(String::from_utf8_lossy(&dot).contains("n1 -> n2 ["));
}

#[test]
fn the_many_pages_of_one_folder_are_kept_together_by_where_they_are_reached() {
    let mut documents = vec![(document(0, TOP, "Top", 0), vec![])];
    for part in 0..3_u32 {
        let portal = 1 + part * 31;
        let url = format!("{TOP}wiki/Portal_{part}");
        documents[0].1.push(good(portal, &url, "portal", 1));
        let pages: Vec<_> = (1..=30).map(|nth| (portal + nth, format!("{TOP}wiki/{nth}_{part}"))).collect();
        documents.push((
            document(portal, &url, &format!("Portal {part}"), 1),
            pages.iter().map(|(node, url)| good(*node, url, "x", 2)).collect(),
        ));
        documents.extend(pages.into_iter().map(|(node, url)| (document(node, &url, "Page", 2), vec![])));
    }
    documents.sort_by(|a, b| a.0.url.cmp(&b.0.url));
    let columns = columns_of(&map_of(&MadeUpWeb::with(documents)));
    let labels: BTreeSet<&str> = columns["places"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|place| columns["texts"][place[5].as_u64()? as usize].as_str())
        .collect();
    assert!(labels.is_superset(&["from Portal 0", "from Portal 1", "from Portal 2"].into()), "{labels:?}");
}

#[test]
fn five_thousand_pages_fit_into_two_megabytes() {
    let page = map_of(&MadeUpWeb::of(5_000));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

#[test]
fn there_is_a_map_of_nothing() {
    let page = map_of(&MadeUpWeb::with(Vec::new()));
    assert!(page.contains("Nothing."));
    assert_eq!(columns_of(&page)["places"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_is_written_is_what_the_program_reads() {
    let page = map_of(&MadeUpWeb::of(50));
    for name in columns_of(&page).as_object().expect("an object").keys() {
        assert!(page.contains(&format!("columns.{name}")), "nobody reads {name}");
    }
    // It needs nothing from elsewhere.
    assert!(!page.contains(" src=") && !page.contains("url(") && !page.contains("import "));
}

#[test]
fn graphml_is_well_formed_and_says_everything() {
    let mut graph = Vec::new();
    write_graphml(&hostile_web(), 0, &mut graph).expect("a graph");
    let graph = String::from_utf8(graph).expect("text");
    let mut reader = quick_xml::Reader::from_str(&graph);
    let (mut nodes, mut edges, mut keys, mut ids, mut ends) = (0, 0, Vec::new(), HashSet::new(), Vec::new());
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(element) | Event::Empty(element) => {
                let attribute = |name: &str| {
                    let found = element.try_get_attribute(name).expect("an attribute").expect("the attribute");
                    found.value.to_string()
                };
                match element.name().as_ref() {
                    "node" => {
                        nodes += 1;
                        assert!(ids.insert(attribute("id")));
                    }
                    "edge" => {
                        edges += 1;
                        ends.extend([attribute("source"), attribute("target")]);
                    }
                    "key" => keys.push(attribute("attr.name")),
                    _ => (),
                }
            }
            Event::Text(text) => assert!(!text.contains('\0')),
            Event::Eof => break,
            _ => (),
        }
    }
    assert_eq!((nodes, edges), (4, 5));
    assert!(ends.iter().all(|end| ids.contains(end)), "an edge to nowhere");
    assert_eq!(keys, ["url", "title", "verdict", "owner", "depth", "verdict"]);
}

/// Graphviz itself is the judge, where it is installed.
#[test]
fn graphviz_reads_what_is_written() {
    for web in [hostile_web(), MadeUpWeb::of(200)] {
        let mut graph = Vec::new();
        write_dot(&web, 0, &mut graph).expect("a graph");
        let text = String::from_utf8(graph).expect("text");
        // Within quotes there is none, whatever titles say.
        assert!(text.lines().all(|line| line.matches('"').count() % 2 == 0 && !line.contains('\\')));
        // `nop` is Graphviz without a layout, which would take minutes.
        let started = Command::new("nop").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let Ok(mut nop) = started else {
            modoai_testkit::not_installed("no nop of Graphviz");
            return;
        };
        let mut input = nop.stdin.take().expect("its input");
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let output = nop.wait_with_output().expect("an answer");
        writer.join().expect("no panic").expect("everything was read");
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
