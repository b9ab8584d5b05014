//! Writes the web as GraphML, which Gephi, yEd, Cytoscape, NetworkX and igraph read.

use std::io::{self, Write};

use crate::foreign::Legal;
use crate::results::{Results, Visit};

use super::graph::{self, Edge, Format, Vertex};

/// Writes one infostructure as a GraphML file.
pub fn write_graphml(results: &dyn Results, of: usize, out: &mut dyn Write) -> Visit {
    graph::write(results, of, &mut GraphMl, "the GraphML file", out)
}

struct GraphMl;

/// The attributes of nodes and edges: id, kind of element, name, type.
const KEYS: [(&str, &str, &str, &str); 6] = [
    ("url", "node", "url", "string"),
    ("title", "node", "title", "string"),
    ("verdict", "node", "verdict", "string"),
    ("owner", "node", "owner", "string"),
    ("depth", "node", "depth", "int"),
    ("link", "edge", "verdict", "string"),
];

impl Format for GraphMl {
    fn begin(&mut self, out: &mut dyn Write, name: &str, incomplete: Option<&str>) -> io::Result<()> {
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(out, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
        for (id, whose, name, kind) in KEYS {
            writeln!(out, "  <key id=\"{id}\" for=\"{whose}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>")?;
        }
        writeln!(out, "  <graph id=\"web\" edgedefault=\"directed\">")?;
        // The schema allows one description.
        let incomplete = incomplete.map(|why| format!("; {why}")).unwrap_or_default();
        writeln!(out, "    <desc>{}{}</desc>", Legal(name), Legal(&incomplete))
    }

    fn vertex(&mut self, out: &mut dyn Write, vertex: &Vertex<'_>) -> io::Result<()> {
        write!(out, "    <node id=\"n{}\">", vertex.id)?;
        data(out, "url", vertex.url)?;
        data(out, "title", vertex.title.as_deref().unwrap_or_default())?;
        data(out, "verdict", vertex.verdict.name())?;
        data(out, "owner", vertex.owner.as_deref().unwrap_or_default())?;
        if let Some(depth) = vertex.depth {
            data(out, "depth", &depth.to_string())?;
        }
        writeln!(out, "</node>")
    }

    fn edge(&mut self, out: &mut dyn Write, edge: &Edge) -> io::Result<()> {
        write!(out, "    <edge source=\"n{}\" target=\"n{}\">", edge.from, edge.to)?;
        data(out, "link", edge.verdict.name())?;
        writeln!(out, "</edge>")
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "  </graph>\n</graphml>")
    }
}

/// Writes one attribute, unless it is empty.
fn data(out: &mut dyn Write, key: &str, value: &str) -> io::Result<()> {
    if value.is_empty() { Ok(()) } else { write!(out, "<data key=\"{key}\">{}</data>", Legal(value)) }
}
