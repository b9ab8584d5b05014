//! Converts an infostructure to a graph for exports: documents, broken or moved targets, and the links between them.
//! Only numbers of the nodes written so far are kept, so that a web of a million pages can be exported too.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use xxhash_rust::xxh3::xxh3_64;

use crate::results::{ReportError, Results, Visit};
use crate::targets::Targets;
use crate::verdict::Verdict;

use super::document_index::DocumentIndex;
use super::web::{presentable, standing};

/// A document, or a target that is not one.
pub(crate) struct Vertex<'a> {
    /// The unique identifier.
    pub(crate) id: u64,
    pub(crate) url: &'a str,
    pub(crate) title: Option<String>,
    pub(crate) verdict: Verdict,
    pub(crate) owner: Option<String>,
    /// `None` for targets that are not documents.
    pub(crate) depth: Option<u32>,
}

/// A link between two vertices, once for all occurrences on the page.
pub(crate) struct Edge {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) verdict: Verdict,
}

/// A file format for graphs.
pub(crate) trait Format {
    /// `incomplete` is the reason why the run is not complete, if it is not.
    fn begin(&mut self, out: &mut dyn Write, name: &str, incomplete: Option<&str>) -> io::Result<()>;
    fn vertex(&mut self, out: &mut dyn Write, vertex: &Vertex<'_>) -> io::Result<()>;
    fn edge(&mut self, out: &mut dyn Write, edge: &Edge) -> io::Result<()>;
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

/// The first number of targets that are not documents; documents have the numbers of the table.
const ENDS: u64 = 1 << 32;

/// Writes an infostructure in a format. If `of` is not one of the run, the graph is empty.
pub(crate) fn write(
    results: &dyn Results,
    of: usize,
    format: &mut dyn Format,
    what: &str,
    out: &mut dyn Write,
) -> Visit {
    let mut out = io::BufWriter::new(out);
    let failed = |source: io::Error| ReportError::Write { what: what.to_owned(), source };
    let task = results.infostructures().get(of).map(|infostructure| &infostructure.task);
    let name = task.map_or("", |task| task.index_title.as_deref().unwrap_or(&task.name));
    let incomplete = results.run().incomplete();
    format.begin(&mut out, name, incomplete.as_deref()).map_err(failed)?;
    if task.is_some() {
        let targets = Targets::gather(results, Some(of))?;
        let mut documents = DocumentIndex::default();
        results.documents(of, &mut |document, _| {
            documents.add(document, document.node);
            Ok(())
        })?;
        let mut ends: HashMap<(u64, Verdict), u64> = HashMap::new();
        results.documents(of, &mut |document, references| {
            let from = u64::from(document.node);
            let vertex = Vertex {
                id: from,
                url: &document.url,
                title: document.title.as_deref().map(presentable),
                verdict: standing(document, references, &targets),
                owner: document.owner.as_deref().map(presentable),
                depth: Some(document.depth),
            };
            format.vertex(&mut out, &vertex).map_err(failed)?;
            let mut linked = HashSet::new();
            for reference in references {
                let known = documents.at(reference).map(u64::from);
                let to = match (known, reference.verdict) {
                    // A missing fragment does not affect the page: the edge goes to the page, with the verdict of the
                    // link.
                    (Some(known), _) => known,
                    // Targets that were not tested may be thousands, without any information.
                    (None, Verdict::Good | Verdict::Changed | Verdict::Expiring | Verdict::NotTested) => continue,
                    (None, verdict) => {
                        let next = ENDS + ends.len() as u64;
                        let id = *ends.entry((xxh3_64(reference.target.as_bytes()), verdict)).or_insert(next);
                        if id == next {
                            let title = reference.title.as_deref().map(presentable);
                            let end = Vertex { id, url: &reference.target, title, verdict, owner: None, depth: None };
                            format.vertex(&mut out, &end).map_err(failed)?;
                        }
                        id
                    }
                };
                if to != from && linked.insert((to, reference.verdict)) {
                    format.edge(&mut out, &Edge { from, to, verdict: reference.verdict }).map_err(failed)?;
                }
            }
            Ok(())
        })?;
    }
    format.end(&mut out).map_err(failed)?;
    out.flush().map_err(failed)
}
