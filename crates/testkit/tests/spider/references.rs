//! Every way to refer is known, and nothing is taken for one that is none.

use std::collections::BTreeSet;

use modoai_testkit::web::references::{self, WAYS};

use super::Spider;

#[test]
fn every_way_to_refer_is_found() {
    let host = references::web().start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).with(["--no-external"]).complete();
    // What only takes what is sent to it says nothing to whoever looks, but it is found.
    let found: BTreeSet<String> = ended.targets("broken").union(&ended.targets("not tested")).cloned().collect();
    let wanted: BTreeSet<String> = WAYS.iter().map(|way| host.at(&way.path())).collect();
    let missed: Vec<_> = wanted.difference(&without_fragments(&found)).cloned().collect();
    let extra: Vec<_> = without_fragments(&found).difference(&wanted).cloned().collect();
    let (missed_count, all) = (missed.len(), wanted.len());
    assert!(missed.is_empty(), "{missed_count} of {all} ways are not known: {missed:#?}");
    assert!(extra.is_empty(), "nobody refers to {extra:#?}");
    let never: Vec<_> = host.log().into_iter().filter(|asked| asked.request.target.contains("never")).collect();
    assert!(never.is_empty(), "{never:#?}");
    // The front page has all of them, and lines are told.
    for finding in ended.findings.iter().filter(|finding| finding["page"] == host.at("/")) {
        let line = finding["line"].as_u64().unwrap_or(0);
        assert!(line > 0 || finding["element"] == "Link header", "no line: {finding}");
    }
}

fn without_fragments(urls: &BTreeSet<String>) -> BTreeSet<String> {
    urls.iter().map(|url| url.split('#').next().unwrap_or_default().to_owned()).collect()
}
