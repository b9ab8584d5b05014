//! Writes the web as a DOT file for Graphviz. Large webs need `sfdp -Goverlap=prism`, small ones any layout.

use std::io::{self, Write};

use crate::foreign::is_invisible;
use crate::results::{Results, Visit};
use crate::verdict::Verdict;

use super::graph::{self, Edge, Format, Vertex};

/// Writes one infostructure as a DOT file.
pub fn write_dot(results: &dyn Results, of: usize, out: &mut dyn Write) -> Visit {
    graph::write(results, of, &mut Dot, "the DOT file", out)
}

struct Dot;

impl Format for Dot {
    fn begin(&mut self, out: &mut dyn Write, name: &str, incomplete: Option<&str>) -> io::Result<()> {
        writeln!(out, "digraph {} {{", quoted(name))?;
        writeln!(out, "  graph [rankdir=LR, outputorder=edgesfirst];")?;
        if let Some(incomplete) = incomplete {
            writeln!(out, "  graph [comment={}];", quoted(incomplete))?;
        }
        writeln!(
            out,
            "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e4e9ee\", fontname=\"sans-serif\", fontsize=10];"
        )?;
        writeln!(out, "  edge [color=\"#8899aa80\", arrowsize=0.5];")
    }

    fn vertex(&mut self, out: &mut dyn Write, vertex: &Vertex<'_>) -> io::Result<()> {
        let label = vertex.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(vertex.url);
        write!(out, "  n{} [label={}, URL={}", vertex.id, quoted(label), quoted(vertex.url))?;
        write!(out, ", tooltip={}, verdict={}", quoted(vertex.url), quoted(vertex.verdict.name()))?;
        if let Some(owner) = &vertex.owner {
            write!(out, ", owner={}", quoted(owner))?;
        }
        if let Some(depth) = vertex.depth {
            write!(out, ", depth={depth}")?;
        }
        // Nodes that are not documents have another shape; broken ones, another colour and a thick border.
        if vertex.depth.is_none() {
            write!(out, ", shape=octagon, style=filled")?;
        }
        if let Some(colour) = colour(vertex.verdict) {
            write!(out, ", color={}, penwidth=2, fillcolor={}", quoted(colour), quoted(&format!("{colour}40")))?;
        }
        writeln!(out, "];")
    }

    fn edge(&mut self, out: &mut dyn Write, edge: &Edge) -> io::Result<()> {
        match colour(edge.verdict) {
            Some(colour) => {
                let (colour, verdict) = (quoted(colour), quoted(edge.verdict.name()));
                writeln!(out, "  n{} -> n{} [color={colour}, penwidth=1.5, verdict={verdict}];", edge.from, edge.to)
            }
            None => writeln!(out, "  n{} -> n{};", edge.from, edge.to),
        }
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "}}")
    }
}

/// Returns the colour of a verdict in the map.
fn colour(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Broken => Some("#cc3311"),
        Verdict::Fragment => Some("#e69f00"),
        Verdict::Moved => Some("#0077bb"),
        Verdict::Expiring => Some("#aa3377"),
        Verdict::Changed => Some("#009988"),
        Verdict::NotTested => Some("#777777"),
        Verdict::Good => None,
    }
}

/// Returns a quoted string. Graphviz reads escapes within labels and HTML entities everywhere, so backslashes and
/// ampersands are written as entities. Invisible characters are replaced.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("&quot;"),
            '\\' => quoted.push_str("&#92;"),
            '&' => quoted.push_str("&amp;"),
            c if is_invisible(c) => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
