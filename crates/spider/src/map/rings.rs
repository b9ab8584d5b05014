//! Computes the second layout of a web: the top in the middle, and around it a band for every number of links from it.
//! Within a band, a page is near the page from which it is reached.

use std::f64::consts::TAU;

use super::pack::Disc;
use super::web::Web;

/// The share above which a band is filled evenly; in other bands, pages are grouped near the page from which they are
/// reached.
const FULL: f64 = 0.6;
/// The gap between two bands, in pages.
const GAP: f64 = 1.0;

/// The positions of all pages.
#[derive(Debug, PartialEq)]
pub(crate) struct Rings {
    /// One for each page; all are of the same size.
    pub(crate) pages: Vec<Disc>,
    /// The bands, from the middle outwards.
    pub(crate) bands: Vec<Band>,
}

/// A band.
#[derive(Debug, PartialEq)]
pub(crate) struct Band {
    /// The number of links from the top.
    pub(crate) depth: u32,
    /// The outer radius.
    pub(crate) radius: f64,
    /// The number of pages in it.
    pub(crate) pages: usize,
}

/// A position in polar coordinates. The unit of distance is the space that one page needs.
#[derive(Clone, Copy, Default)]
struct Polar {
    angle: f64,
    distance: f64,
}

/// Computes the layout of a web by distance from the top, on a disc of that radius.
pub(crate) fn lay_out(web: &Web, radius: f64) -> Rings {
    let mut places = vec![Polar::default(); web.pages.len()];
    let mut bands: Vec<Band> = Vec::new();
    let mut order: Vec<usize> = (0..web.pages.len()).collect();
    order.sort_by_key(|page| (web.pages[*page].depth, *page));
    let mut outer = 0.0;
    for pages in order.chunk_by(|a, b| web.pages[*a].depth == web.pages[*b].depth) {
        outer = if bands.is_empty() && pages.len() == 1 {
            1.0
        } else {
            lay_band(pages, outer + GAP / 2.0, web, &mut places) + GAP / 2.0
        };
        bands.push(Band { depth: web.pages[pages[0]].depth, radius: outer, pages: pages.len() });
    }
    let scale = if outer > 0.0 { radius / outer } else { 1.0 };
    for band in &mut bands {
        band.radius *= scale;
    }
    let disc = |place: &Polar| Disc {
        x: place.distance * place.angle.cos() * scale,
        y: place.distance * place.angle.sin() * scale,
        r: 0.36 * scale,
    };
    Rings { pages: places.iter().map(disc).collect(), bands }
}

/// Computes the layout of one band from an inner radius. Returns its outer radius.
fn lay_band(pages: &[usize], inner: f64, web: &Web, places: &mut [Polar]) -> f64 {
    // Neighbours are placed in different rows, so that the angle between them is smaller by the number of rows.
    let count = pages.len() as f64;
    let rows = (count / (TAU * (inner + 0.5)).floor()).ceil().max(1.0);
    let step = 1.0 / (inner + 0.5) / rows;

    // The preferred angle of each page: that of the page from which it is reached.
    let mut wished: Vec<(f64, usize)> = pages
        .iter()
        .enumerate()
        .map(|(nth, page)| {
            let parent = web.pages[*page].parent.map(|parent| places[parent as usize]);
            let angle = parent.filter(|parent| parent.distance > 0.0).map(|parent| parent.angle);
            (angle.unwrap_or(TAU * nth as f64 / count).rem_euclid(TAU), *page)
        })
        .collect();
    wished.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));

    let angles =
        gathered(&wished, step, rows).filter(|_| count * step < FULL * TAU).unwrap_or_else(|| evenly(&wished, rows));
    for (nth, ((_, page), angle)) in wished.iter().zip(angles).enumerate() {
        places[*page] = Polar { angle, distance: inner + 0.5 + nth as f64 % rows };
    }
    inner + rows
}

/// Returns angles near the preferred ones: pages with the same preference are grouped around it, at least a step apart.
/// `None` if they do not fit into one circle.
fn gathered(wished: &[(f64, usize)], step: f64, rows: f64) -> Option<Vec<f64>> {
    let mut angles = Vec::with_capacity(wished.len());
    let mut free = f64::NEG_INFINITY;
    for family in wished.chunk_by(|a, b| a.0 == b.0) {
        let mut angle = (family[0].0 - step * (family.len() - 1) as f64 / 2.0).max(free);
        for _ in family {
            angles.push(angle);
            angle += step;
        }
        free = angle;
    }
    (free - angles.first()? + step * rows <= TAU).then_some(angles)
}

/// Returns angles at equal distances, rotated so that most are near the preferred ones.
fn evenly(wished: &[(f64, usize)], rows: f64) -> Vec<f64> {
    // The number of positions is a multiple of the number of rows: otherwise, the first and the last page might be in
    // the same row.
    let step = TAU / ((wished.len() as f64 / rows).ceil() * rows);
    let off = |nth: usize, wish: f64| wish - step * nth as f64;
    let (sin, cos) = wished
        .iter()
        .enumerate()
        .fold((0.0, 0.0), |(sin, cos), (nth, (wish, _))| (sin + off(nth, *wish).sin(), cos + off(nth, *wish).cos()));
    let turn = f64::atan2(sin, cos);
    (0..wished.len()).map(|nth| turn + step * nth as f64).collect()
}
