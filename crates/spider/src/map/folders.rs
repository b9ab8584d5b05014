//! Computes the main layout of the map: a disc for every page, in circles that are the directories of the site. Users
//! know the directories of a site, owners are assigned by directory, and directories stay while links change.
//!
//! Uninformative directories are not drawn: those of very few pages (`/about/`), and those that contain only one
//! directory. If a directory has many pages, those that are reached from the same page are grouped instead.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use url::Url;

use crate::verdict::Verdict;

use super::pack::{Disc, pack};
use super::web::{Page, Web, presentable};

/// The maximum depth of circles. Deeper directories are merged: users cannot distinguish circles within twelve circles.
const DEEPEST: usize = 12;
/// The number of pages above which a directory is divided by the pages from which they are reached.
const CROWD: usize = 40;
/// The number of pages up to which a directory is not drawn.
const LONELY: usize = 3;
/// The number of pages up to which no separate circle is needed, next to directories or for pages reached from the same
/// page.
const FEW: usize = 5;

/// A circle on the map: a directory, or a group of pages within one.
#[derive(Debug, PartialEq)]
pub(crate) struct Place {
    /// Its label, which may be empty.
    pub(crate) label: String,
    /// True for a directory, false for a group of pages within one.
    pub(crate) is_folder: bool,
    /// The number of enclosing circles.
    pub(crate) level: usize,
    pub(crate) disc: Disc,
}

/// The positions of all circles and pages.
#[derive(Debug, PartialEq)]
pub(crate) struct Folders {
    /// The largest first, so that inner circles are drawn later.
    pub(crate) places: Vec<Place>,
    /// One for each page.
    pub(crate) pages: Vec<Disc>,
    /// The innermost circle of each page, by index.
    pub(crate) inside: Vec<usize>,
}

/// Computes the layout of a web by directories, on a disc of that radius.
pub(crate) fn lay_out(web: &Web, radius: f64) -> Folders {
    let mut root = settle_down(Tree::of(&web.pages), 0, web);
    pack_circle(&mut root, web);
    let scale = if root.r > 0.0 { radius / root.r } else { 1.0 };
    let mut folders =
        Folders { places: Vec::new(), pages: vec![Disc::default(); web.pages.len()], inside: vec![0; web.pages.len()] };
    place(&root, (0.0, 0.0), 0, scale, web, &mut folders);
    folders
}

/// Returns the size of a page, which grows slowly with the number of pages that link to it.
pub(crate) fn size(page: &Page) -> f64 {
    1.0 + 0.45 * f64::from(page.links_in + 1).log10()
}

/// Returns the space that a page needs: broken links are drawn as spikes.
fn room(page: &Page, web: &Web) -> f64 {
    let has_ends = page
        .problems
        .iter()
        .any(|problem| matches!(web.ends[problem.end as usize].verdict, Verdict::Broken | Verdict::Fragment));
    size(page) + if has_ends { 1.25 } else { 0.3 }
}

/// The tree of directories in the URLs.
#[derive(Default)]
struct Tree {
    pages: Vec<usize>,
    folders: BTreeMap<String, Tree>,
}

impl Tree {
    fn of(pages: &[Page]) -> Self {
        let mut root = Self::default();
        for (index, page) in pages.iter().enumerate() {
            let mut tree = &mut root;
            for folder in folders_of(&page.url) {
                tree = tree.folders.entry(folder).or_default();
            }
            tree.pages.push(index);
        }
        root
    }
}

/// Returns the host, and the directories of the path. Pages that differ only in their query get a separate directory.
fn folders_of(url: &str) -> Vec<String> {
    let Ok(url) = Url::parse(url) else { return vec![String::new()] };
    let mut folders = vec![match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => String::new(),
    }];
    let mut segments: Vec<&str> = url.path_segments().map(Iterator::collect).unwrap_or_default();
    let file = segments.pop().unwrap_or_default();
    let decoded = |text: &str| presentable(&percent_decode_str(text).decode_utf8_lossy());
    folders.extend(segments.into_iter().take(DEEPEST).map(decoded));
    if url.query().is_some_and(|query| !query.is_empty()) && folders.len() <= DEEPEST {
        folders.push(format!("{}?", decoded(file)));
    }
    folders
}

/// A circle before its position is known.
struct Circle {
    label: String,
    is_folder: bool,
    pages: Vec<usize>,
    circles: Vec<Circle>,
    /// The positions of the circles, then of the pages, relative to the centre of this circle.
    discs: Vec<Disc>,
    r: f64,
}

/// Converts directories to circles.
fn settle_down(tree: Tree, depth: usize, web: &Web) -> Circle {
    let mut pages = tree.pages;
    let mut circles = Vec::new();
    for (name, folder) in tree.folders {
        let mut circle = settle_down(folder, depth + 1, web);
        // Two or three pages need no circle, unless they are all pages of a host. They stay next to each other.
        if circle.circles.is_empty() && circle.pages.len() <= LONELY && depth > 0 {
            pages.append(&mut circle.pages);
            continue;
        }
        // A directory that contains only one directory is merged with it.
        circle.label = if circle.label.is_empty() { name } else { format!("{name}/{}", circle.label) };
        circles.push(circle);
    }
    if pages.is_empty() && circles.len() == 1 {
        return circles.remove(0);
    }
    pages.sort_unstable();
    let mut circle = Circle { label: String::new(), is_folder: true, pages, circles, discs: Vec::new(), r: 0.0 };
    if circle.pages.len() > CROWD {
        divide(&mut circle, web);
    }
    // Pages next to directories are grouped.
    if !circle.circles.is_empty() && circle.pages.len() > FEW {
        let pages = std::mem::take(&mut circle.pages);
        circle.circles.push(group(String::new(), pages));
    }
    circle
}

fn group(label: String, pages: Vec<usize>) -> Circle {
    Circle { label, is_folder: false, pages, circles: Vec::new(), discs: Vec::new(), r: 0.0 }
}

/// Divides the pages of a large directory by the page from which they are reached.
fn divide(circle: &mut Circle, web: &Web) {
    let mut families: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut rest = Vec::new();
    for page in circle.pages.drain(..) {
        match web.pages[page].parent {
            Some(parent) => families.entry(parent).or_default().push(page),
            None => rest.push(page),
        }
    }
    families.retain(|_, family| {
        family.len() > FEW || {
            rest.append(family);
            false
        }
    });
    if families.len() == 1 && rest.is_empty() {
        // All pages are reached from the same page: a circle would add no information.
        circle.pages = families.into_values().flatten().collect();
        return;
    }
    rest.sort_unstable();
    circle.pages = rest;
    circle.circles.extend(
        families
            .into_iter()
            .map(|(parent, family)| group(format!("from {}", web.pages[parent as usize].name()), family)),
    );
}

/// Computes the layout within a circle, innermost first.
fn pack_circle(circle: &mut Circle, web: &Web) {
    for inner in &mut circle.circles {
        pack_circle(inner, web);
    }
    circle.circles.sort_by(|a, b| b.r.total_cmp(&a.r).then_with(|| a.label.cmp(&b.label)));
    let size_of = |page: &usize| room(&web.pages[*page], web);
    let is_top = |page: &usize| web.pages[*page].depth == 0;
    circle.pages.sort_by(|a, b| {
        is_top(b).cmp(&is_top(a)).then_with(|| size_of(b).total_cmp(&size_of(a))).then_with(|| a.cmp(b))
    });
    // The first discs are in the middle: two large circles, then the top if it is here, which fits next to them.
    let (tops, rest) = circle.pages.split_at(circle.pages.partition_point(is_top));
    let inner: Vec<f64> = circle.circles.iter().map(|circle| circle.r + 0.6 + circle.r * 0.015).collect();
    let (first, others) = inner.split_at(inner.len().min(2));
    let around_tops = first.iter().copied().chain(tops.iter().map(size_of)).chain(others.iter().copied());
    let sizes = around_tops.chain(rest.iter().map(size_of));
    circle.discs = sizes.map(|r| Disc { r, ..Disc::default() }).collect();
    let around = pack(&mut circle.discs);
    circle.discs[first.len()..inner.len() + tops.len()].rotate_left(tops.len());
    // Space for the label along the upper edge.
    circle.r = around + 0.5 + around * 0.03;
}

/// Stores the final positions.
fn place(circle: &Circle, at: (f64, f64), level: usize, scale: f64, web: &Web, into: &mut Folders) {
    let index = into.places.len();
    into.places.push(Place {
        label: circle.label.clone(),
        is_folder: circle.is_folder,
        level,
        disc: Disc { x: at.0 * scale, y: at.1 * scale, r: circle.r * scale },
    });
    let (circles, pages) = circle.discs.split_at(circle.circles.len());
    for (page, disc) in circle.pages.iter().zip(pages) {
        let (x, y) = ((at.0 + disc.x) * scale, (at.1 + disc.y) * scale);
        into.pages[*page] = Disc { x, y, r: size(&web.pages[*page]) * scale };
        into.inside[*page] = index;
    }
    for (inner, disc) in circle.circles.iter().zip(circles) {
        place(inner, (at.0 + disc.x, at.1 + disc.y), level + 1, scale, web, into);
    }
}
