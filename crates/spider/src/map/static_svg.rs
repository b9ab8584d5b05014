//! Draws the map as an SVG image of the directories and their pages, for browsers without scripts. All dots of one
//! colour and size are one path of points with round ends, the most compact form.

use std::fmt::Write;

use crate::foreign::Escaped;

use super::folders::Folders;
use super::web::{WORST_FIRST, Web, badness};

/// Draws the image. Colours are defined in the page's style sheet, by the number of the verdict.
pub(crate) fn svg(web: &Web, folders: &Folders, radius: f64) -> String {
    // A tenth of the precision is enough for an image without zoom.
    let small = |number: f64| (number / 10.0).round() as i64;
    let edge = small(radius) + 10;
    let mut svg = String::new();
    let mut add = |arguments: std::fmt::Arguments<'_>| svg.write_fmt(arguments).expect("a string takes everything");
    add(format_args!(
        "<svg viewBox=\"{} {} {} {}\" role=\"img\" aria-label=\"Map of the pages, grouped by directory\">",
        -edge,
        -edge,
        edge * 2,
        edge * 2
    ));
    for place in folders.places.iter().filter(|place| place.is_folder) {
        let disc = place.disc;
        add(format_args!(
            "<circle class=\"place\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            small(disc.x),
            small(disc.y),
            small(disc.r)
        ));
    }
    for verdict in WORST_FIRST.iter().rev() {
        let mut sizes: Vec<(i64, usize)> = (0..web.pages.len())
            .filter(|page| web.pages[*page].verdict == *verdict)
            .map(|page| (small(folders.pages[page].r), page))
            .collect();
        sizes.sort_unstable();
        for same in sizes.chunk_by(|a, b| a.0 == b.0) {
            add(format_args!("<path class=\"v{}\" stroke-width=\"{}\" d=\"", badness(*verdict), same[0].0 * 2));
            for (_, page) in same {
                let disc = folders.pages[*page];
                add(format_args!("M{} {}h0", small(disc.x), small(disc.y)));
            }
            add(format_args!("\"/>"));
        }
    }
    for place in folders.places.iter().filter(|place| place.is_folder && place.disc.r > radius * 0.12) {
        let text = Escaped(&place.label);
        let (x, y) = (small(place.disc.x), small(place.disc.y - place.disc.r) + edge / 40);
        add(format_args!("<text x=\"{x}\" y=\"{y}\" font-size=\"{}\">{text}</text>", edge / 45));
    }
    svg.push_str("</svg>");
    svg
}
