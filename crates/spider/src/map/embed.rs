//! Encodes a web for the script of the page: one JSON object of columns, with links as variable-length numbers in
//! base64 and URLs without the prefix that they share with the previous one. 5,000 pages with 100,000 links take less
//! than a megabyte.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::folders::Folders;
use super::rings::Rings;
use super::web::{Web, badness};

/// The columns. `map.js` reads every name here.
#[derive(Serialize)]
struct Columns<'a> {
    /// The number of UTF-16 units that each URL shares with the previous one, and the rest of it.
    shared: Vec<usize>,
    rest: Vec<&'a str>,
    /// Strings, each once; other columns refer to them by index.
    texts: Vec<&'a str>,
    /// -1 for none.
    titles: Vec<i64>,
    nodes: Vec<u32>,
    owners: &'a [String],
    owner: Vec<i64>,
    depth: Vec<u32>,
    verdict: Vec<usize>,
    gone: Vec<usize>,
    parent: Vec<i64>,
    /// x, y, r of each page on the map.
    folders: Vec<i64>,
    /// The circle of each page.
    inside: &'a [usize],
    /// x, y, r, level, 1 for a directory, label.
    places: Vec<[i64; 6]>,
    /// x, y of each page around the top.
    rings: Vec<i64>,
    /// The radius of every page there.
    ring_dot: i64,
    /// Depth, outer radius, pages.
    bands: Vec<[i64; 3]>,
    links: String,
    /// URL, verdict, reason, new address or -1, day or -1, 1 if most pages link to it.
    ends: Vec<[i64; 6]>,
    /// Pages with problems; for each, end, line, element and text of its problems in sequence; and the number of
    /// omitted ones.
    troubled: Vec<usize>,
    problems: Vec<Vec<i64>>,
    untold: Vec<usize>,
}

/// Returns the object, safe within a `<script>` element: no title can end the element.
pub(crate) fn columns(web: &Web, folders: &Folders, rings: &Rings) -> Result<String, serde_json::Error> {
    let mut texts = Texts::default();
    let (shared, rest) = front_coded(web);
    let troubled: Vec<usize> = (0..web.pages.len())
        .filter(|page| !web.pages[*page].problems.is_empty() || web.pages[*page].problems_left_out > 0)
        .collect();
    let columns = Columns {
        shared,
        rest,
        titles: web.pages.iter().map(|page| page.title.as_deref().map_or(-1, |title| texts.index(title))).collect(),
        nodes: web.pages.iter().map(|page| page.node).collect(),
        owners: &web.owners,
        owner: web.pages.iter().map(|page| page.owner.map_or(-1, |owner| owner as i64)).collect(),
        depth: web.pages.iter().map(|page| page.depth).collect(),
        verdict: web.pages.iter().map(|page| badness(page.verdict)).collect(),
        gone: (0..web.pages.len()).filter(|page| web.pages[*page].is_gone).collect(),
        parent: web.pages.iter().map(|page| page.parent.map_or(-1, i64::from)).collect(),
        folders: folders.pages.iter().flat_map(|disc| [disc.x, disc.y, disc.r]).map(whole).collect(),
        inside: &folders.inside,
        places: folders
            .places
            .iter()
            .map(|place| {
                let disc = place.disc;
                let label = texts.index(&place.label);
                [whole(disc.x), whole(disc.y), whole(disc.r), place.level as i64, i64::from(place.is_folder), label]
            })
            .collect(),
        rings: rings.pages.iter().flat_map(|disc| [disc.x, disc.y]).map(whole).collect(),
        ring_dot: rings.pages.first().map_or(0, |disc| whole(disc.r)),
        bands: rings.bands.iter().map(|band| [i64::from(band.depth), whole(band.radius), band.pages as i64]).collect(),
        links: packed(&web.links),
        ends: web
            .ends
            .iter()
            .map(|end| {
                [
                    texts.index(&end.url),
                    badness(end.verdict) as i64,
                    texts.index(&end.reason),
                    end.to.as_deref().map_or(-1, |to| texts.index(to)),
                    end.since.as_deref().map_or(-1, |since| texts.index(since)),
                    i64::from(end.is_site_wide),
                ]
            })
            .collect(),
        problems: troubled
            .iter()
            .map(|page| {
                let problems = web.pages[*page].problems.iter();
                problems
                    .flat_map(|problem| {
                        let (element, text) = (texts.index(problem.element), texts.index(&problem.text));
                        [i64::from(problem.end), i64::from(problem.line), element, text]
                    })
                    .collect()
            })
            .collect(),
        untold: troubled.iter().map(|page| web.pages[*page].problems_left_out).collect(),
        troubled,
        texts: texts.all,
    };
    // JSON has no `<` outside strings.
    Ok(serde_json::to_string(&columns)?.replace('<', "\\u003c"))
}

/// Strings, each once.
#[derive(Default)]
struct Texts<'a> {
    all: Vec<&'a str>,
    known: HashMap<&'a str, i64>,
}

impl<'a> Texts<'a> {
    fn index(&mut self, text: &'a str) -> i64 {
        *self.known.entry(text).or_insert_with(|| {
            self.all.push(text);
            self.all.len() as i64 - 1
        })
    }
}

/// Rounds a coordinate: fractions are invisible in a diagram of this size.
fn whole(number: f64) -> i64 {
    number.round() as i64
}

fn front_coded(web: &Web) -> (Vec<usize>, Vec<&str>) {
    let mut before = "";
    web.pages
        .iter()
        .map(|page| {
            let same = || page.url.chars().zip(before.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a);
            let units: usize = same().map(char::len_utf16).sum();
            let bytes: usize = same().map(char::len_utf8).sum();
            before = &page.url;
            (units, &page.url[bytes..])
        })
        .unzip()
}

/// Encodes the links of each page: their number, the distance of the first, and the distances between the others. Pages
/// that link to each other are near each other, so most distances are one byte.
fn packed(links: &[Vec<u32>]) -> String {
    let mut bytes = Vec::new();
    for (page, leads) in links.iter().enumerate() {
        write_number(&mut bytes, leads.len() as u64);
        let mut before = None;
        for &to in leads {
            let distance = match before {
                // The sign is the last bit.
                None => {
                    let distance = i64::from(to) - page as i64;
                    ((distance << 1) ^ (distance >> 63)) as u64
                }
                Some(before) => u64::from(to - before) - 1,
            };
            write_number(&mut bytes, distance);
            before = Some(to);
        }
    }
    STANDARD.encode(bytes)
}

/// Writes seven bits per byte, the lowest first; the eighth bit means that more bytes follow.
fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
