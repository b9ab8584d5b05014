//! What robots.txt forbids is not asked for, and all else is.

use std::thread;

use modoai_testkit::web::probes::{PROBES, Probe};
use modoai_testkit::web::{Web, html};

use super::Spider;

#[test]
fn the_rules_of_rfc_9309() {
    let complaints: Vec<String> = thread::scope(|scope| {
        let probes: Vec<_> = PROBES.iter().map(|probe| scope.spawn(move || examine(probe))).collect();
        probes.into_iter().filter_map(|probe| probe.join().expect("it does not panic").err()).collect()
    });
    assert!(complaints.is_empty(), "{} of {} probes fail\n\n{}", complaints.len(), PROBES.len(), complaints.join("\n"));
}

fn examine(probe: &Probe) -> Result<(), String> {
    let host = probe.web().start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).run()?;
    let asked = host.log().iter().map(|asked| format!("{asked}\n")).collect::<String>();
    let complain = |what: String| Err(format!("{}: {what}\n{}{asked}", probe.name, ended.said));
    if let Some(path) = probe.forbidden.iter().find(|path| host.times(path) > 0) {
        return complain(format!("{path} was asked for"));
    }
    if let Some(path) = probe.allowed.iter().find(|path| host.times(path) != 1) {
        return complain(format!("{path} was asked for {} times", host.times(path)));
    }
    let times = host.times("/robots.txt");
    if times == 0 || (probe.open && times > 1) {
        return complain(format!("robots.txt was asked for {times} times"));
    }
    for path in probe.forbidden.iter().filter(|_| probe.open) {
        let target = host.at(path);
        let finding = ended.findings.iter().find(|finding| finding["target"] == *target);
        let reason = finding.and_then(|finding| finding["reason"].as_str()).unwrap_or_default();
        if finding.is_none_or(|finding| finding["verdict"] != "not tested") || !reason.contains("robots.txt") {
            return complain(format!("nothing is said about {path}, or something else"));
        }
    }
    if probe.open && ended.findings.len() != probe.forbidden.len() {
        return complain(format!("{} findings", ended.findings.len()));
    }
    let log = host.log();
    let pages = log.iter().filter(|asked| asked.request.target != "/robots.txt").map(|asked| asked.at);
    let pages: Vec<_> = pages.collect();
    if let Some(pair) = pages.windows(2).find(|pair| pair[1] - pair[0] < probe.pace) {
        return complain(format!("only {:?} between two requests", pair[1] - pair[0]));
    }
    Ok(())
}

#[test]
fn each_host_has_its_own_and_is_asked_for_it_once() {
    let other = Web::default().robots("User-agent: *\nDisallow: /no\n").below("/", |_| html("x")).start();
    let links: String = (0..5)
        .map(|number| format!("<a href=\"{0}/yes{number}\">x</a><a href=\"{0}/no{number}\">x</a>", other.url()))
        .collect();
    let host = Web::default().page("/", &links).start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).complete();
    assert_eq!((host.times("/robots.txt"), other.times("/robots.txt")), (1, 1), "{}", ended.said);
    assert_eq!(ended.findings.len(), 5, "{}", ended.said);
    assert!(other.log().iter().all(|asked| !asked.request.target.starts_with("/no")));
    assert_eq!(other.log().len(), 6);
}
