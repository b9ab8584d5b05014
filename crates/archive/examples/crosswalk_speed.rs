//! How long a crosswalk takes for one record, in each shipped format: `cargo run --release --example crosswalk_speed`.
//!
//! The record is in arXiv's shape: 1.6 KB, five authors, two versions. An import renders millions of them. Of many
//! batches the fastest counts: the others were disturbed.

use std::sync::Arc;
use std::time::Instant;

use modoai_archive::crosswalk::{Crosswalks, shipped, shipped_prefixes};
use modoai_archive::record::Record;
use serde_json::json;

const BATCHES: u32 = 50;
const BATCH: u32 = 1000;

fn main() {
    let mut definitions: Vec<_> = shipped_prefixes().filter_map(shipped).collect();
    // Documents of templates that were not shipped are read once more before they go out.
    let mut own = definitions[0].clone();
    own.prefix = "own_dc".to_owned();
    definitions.push(own);
    let constants = toml::toml! { landing = "https://arxiv.org/abs/" };
    let crosswalks = Crosswalks::compile(definitions, constants).expect("the shipped crosswalks compile");
    let record = Arc::new(sample());
    let mut out = Vec::new();
    for crosswalk in crosswalks.all() {
        let prefix = &crosswalk.definition().prefix;
        if !crosswalk.suits(&record) {
            println!("{prefix:14} does not suit the record");
            continue;
        }
        let mut batch = || {
            let start = Instant::now();
            for _ in 0..BATCH {
                out.clear();
                let described = crosswalks.describe(record.clone(), "oai:arXiv.org:2101.00001");
                crosswalk.write(&described, &mut out).expect("it renders");
            }
            start.elapsed()
        };
        let fastest = (0..BATCHES).map(|_| batch()).min().expect("there are batches");
        let each = fastest.as_secs_f64() * 1e6 / f64::from(BATCH);
        println!("{prefix:14} {each:6.2} µs, {} bytes", out.len());
    }
}

fn sample() -> Record {
    let agent = |family: &str, given: &str| json!({"family": family, "given": given});
    let record = json!({
        "identifier": "2101.00001",
        "title": "Calculation of prompt diphoton production cross sections at Tevatron and LHC energies",
        "creators": [agent("Balázs", "C."), agent("Berger", "E. L."), agent("Nadolsky", "P. M."), agent("Yuan", "C. -P."), agent("Doe", "Jane")],
        "authors": "C. Balázs, E. L. Berger, P. M. Nadolsky, C.-P. Yuan, Jane Doe",
        "abstract": "A fully differential calculation in perturbative quantum chromodynamics is presented for the production of \
            massive photon pairs at hadron colliders. ".repeat(8),
        "subjects": ["High Energy Physics - Phenomenology", "High Energy Physics - Theory"],
        "categories": "hep-ph hep-th",
        "versions": [
            {"version": "v1", "date": "Mon, 2 Apr 2007 19:18:42 GMT", "size": "12kb"},
            {"version": "v2", "date": "Tue, 24 Jul 2007 20:10:27 GMT", "size": "13kb"},
        ],
        "dates": {"created": "2007-04-02", "updated": "2008-11-26"},
        "licence": "http://arxiv.org/licenses/nonexclusive-distrib/1.0/",
        "submitter": "Pavel Nadolsky",
        "comments": "37 pages, 15 figures; published version",
        "journal_ref": "Phys.Rev.D76:013009,2007",
        "doi": "10.1103/PhysRevD.76.013009",
        "report_no": "ANL-HEP-PR-07-12",
    });
    serde_json::from_value(record).expect("a record")
}
