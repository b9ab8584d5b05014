//! What can be set, and what is said to whoever sets it wrongly: the name of the directive, and what it needs.

use std::fs;
use std::path::{Path, PathBuf};

use modoai_testkit::apache::{self, Launch, Mpm, machine};
use modoai_testkit::workspace;

use super::{listed, paths};
use crate::oai;

/// Wrong lines, and what must be said besides the name of the directive.
const WRONG: &[(&str, &str)] = &[
    ("OAIEngine Maybe", "On or Off"),
    ("OAIEngine", "argument"),
    ("OAITraffic 1", "On or Off"),
    ("OAIReadAhead Perhaps", "On or Off"),
    ("OAIShowDotfiles On", "!.*"),
    ("OAIFriends http://example.org/oai", "identify_descriptions (OAIDescription in Apache httpd)"),
    ("OAIEprintsContent text", "examples/identify/"),
    ("OAIDescription", "argument"),
    ("OAIDescription missing.xml", "missing.xml: No such file"),
    ("OAIDescription mime.types", "invalid file: "),
    ("<Location \"/x\">\nOAIDescription missing.xml\n</Location>", "missing.xml"),
    ("OAIRepositoryName Two words", "quotes"),
    ("OAIRepositoryName", "argument"),
    ("OAIAdminEmail", "argument"),
    ("OAIAdminEmail nobody", "nobody"),
    ("OAIPageSize many", "whole number"),
    ("OAIPageSize 0", ""),
    ("OAIPageSize -5", ""),
    ("OAIPageSize", "argument"),
    ("OAIPageSize 10 0", ""),
    ("OAIPageSize 10 many", "whole number"),
    ("OAIPageSize 10 20 30", "headers in a page"),
    ("OAIPageBytes large", "number of bytes"),
    ("OAIByValueLimit 10X", "number of bytes"),
    ("OAIRescan sometimes", "needs a duration"),
    ("OAIMaxDeleted 101", ""),
    ("OAIMaxVanished 50", "OAIMaxDeleted"),
    ("OAISiteURL ftp://example.org/", "https://"),
    ("OAISiteURL www.example.org", "https://"),
    ("OAIRepositoryIdentifier \"not a domain\"", "not a domain"),
    ("OAIRoot /only-a-url", "directory"),
    ("OAIRoot no-slash /tmp", "slash"),
    ("OAIRoot /x relative/path", "full path"),
    ("OAIIgnore [", "pattern"),
    ("OAIIgnore", "argument"),
    ("OAIIgnore \"/(a|ok).*/\"", "re:/(a|ok).*/"),
    ("OAIIgnore ../outside", "matches no path"),
    ("OAIIgnore \"re:(\"", "regular expression"),
    ("OAIIgnore re:^drafts/", "begins with a slash"),
    ("OAIIgnore re:", "every path"),
    ("OAIIgnoreMatch ^/drafts/", "re:EXPRESSION"),
    ("OAIIgnoreReset On", "OAIIgnore !*"),
    ("OAIUsers {", "pattern"),
    ("OAISet", "a setSpec"),
    ("OAISet physics", "a name"),
    ("OAISet \"a b\" Name /x", "not a setSpec"),
    ("OAISet mime:text Texts *.txt", "by media type"),
    ("OAISet a \"\" /x", "a name"),
    ("OAISet a A \"x|y\"", "regular expression"),
    ("OAISet a A x\nOAISet a B y", "twice"),
    ("OAIIndexDir \"${SITE}/docs/inside\"", "outside every document root"),
    ("OAICatalogue", "argument"),
    ("OAICatalogue \"\"", "the path of a catalogue"),
    ("OAICatalogue a b", "quotes"),
    ("OAICatalogue postgres://db/oai", "unsupported scheme postgres:"),
    ("OAIIndexDir s3://bucket/oai", "unsupported scheme s3:"),
    ("OAITempDir s3://bucket/tmp", "not a URL (s3:)"),
    ("OAITempDir", "argument"),
    ("OAICatalogue docs/catalogue.sqlite", "outside every document root"),
    ("OAICatalogue mime.types", "not a catalogue"),
    ("OAICatalogue /dev/null", "neither a file nor a directory"),
    ("<Location \"/x\">\nOAIPageSize many\nOAICatalogue x.sqlite\n</Location>", "whole number"),
    ("<Location \"/x\">\nOAIIgnore *.txt\nOAICatalogue x.sqlite\n</Location>", "not allowed"),
    ("modoai_sitename", "argument"),
    ("modoai_email", "argument"),
    ("modoai_encode_size x", "number of bytes"),
    ("modoai_resumption_count x", "whole number"),
    // A folder is not a repository.
    ("<Directory \"/\">\nOAIPageSize 5\n</Directory>", "not allowed in"),
];

#[test]
fn wrong_values_are_refused_with_the_name_of_the_directive_and_what_it_needs() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site();
    let (right, message) = launch.config_test("");
    assert!(right, "{message}");
    let mut faults = Vec::new();
    for (line, needed) in WRONG {
        let name = line.split_whitespace().find(|word| word.to_lowercase().contains("oai")).expect("a directive");
        let (right, message) = launch.config_test(line);
        if right || !message.contains(name) || !message.contains(needed) {
            faults.push(format!("{line}: {}", if right { "accepted" } else { message.trim() }));
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), WRONG.len(), faults.join("\n"));
}

#[test]
fn what_is_set_is_what_is_told_and_the_historic_names_still_work() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site().text(
        r#"modoai_sitename "An old site"
        modoai_email old@example.org older@example.org
        modoai_encode_size 100
        modoai_resumption_count 3
        OAISiteURL "https://www.example.org"
        OAIIgnore *.draft internal
        OAIRescan 1h
        <Location "/second">
            SetHandler modoai-handler
        </Location>"#,
    );
    launch.write("docs/large.txt", "x".repeat(101));
    for name in ["1.txt", "2.txt", "3.txt", "x.draft", "internal/x.txt", "x.txt~"] {
        launch.write(format!("docs/{name}"), "x");
    }
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let identify = oai::ask(&mut client, "verb=Identify").answer;
    assert_eq!(identify.identify("repositoryName"), Some("An old site"));
    assert_eq!(identify.identify("baseURL"), Some("https://www.example.org/modoai"));
    let emails: Vec<&str> =
        identify.identify.iter().filter(|(name, _)| name == "adminEmail").map(|(_, text)| text.as_str()).collect();
    assert_eq!(emails, ["old@example.org", "older@example.org"]);
    assert_eq!(
        listed(&mut client),
        paths(["1.txt", "2.txt", "3.txt", "large.txt"]),
        "OAIIgnore adds to what is hidden"
    );
    let pages = oai::pages(&mut client, "verb=ListRecords&metadataPrefix=oai_didl");
    assert_eq!(pages.iter().map(|page| page.answer.records.len()).collect::<Vec<_>>(), [3, 1]);
    for record in pages.iter().flat_map(|page| &page.answer.records) {
        let package = record.metadata.as_ref().expect("a package").bytes.clone();
        let by_value = String::from_utf8_lossy(&package).contains("encoding=\"base64\"");
        assert_eq!(by_value, !record.identifier.ends_with("large.txt"), "{}", record.identifier);
    }
    let second = client.get("/second?verb=Identify").expect("an answer");
    assert!(second.text().contains("<baseURL>https://www.example.org/second</baseURL>"), "{}", second.text());
    httpd.expect_clean_log(&[]);
}

#[test]
fn httpd_shows_the_defaults_that_the_guide_has() {
    if apache::is_missing() {
        return;
    }
    let info = "<Location \"/info\">\nSetHandler server-info\n</Location>";
    let httpd = Launch::new(Mpm::Event).ordinary_site().modules(&["mod_info"]).text(info).start();
    let page = httpd.client().get("/info").expect("an answer").text();
    let guide = fs::read_to_string(workspace().join("docs/guide/apache.md")).expect("the guide");
    let (_, section) = guide.split_once("## All directives\n").expect("a section about directives");
    let section = section.split("\n## ").next().expect("it has an end");
    let mut seen = 0;
    for row in section.lines().filter_map(|line| line.strip_prefix("| `")) {
        let name = row.split(['`', ' ']).next().expect("a name");
        let default = row.replace("\\|", "/").split(" | ").nth(1).expect("a default").to_owned();
        let help = page.lines().find_map(|line| line.split_once(&format!("{name} - "))).expect(name).1;
        let is_one = default == "none" || default.starts_with('`') && default.matches('`').count() == 2;
        if let Some((_, shown)) = help.split_once("(default: ").filter(|_| is_one) {
            assert_eq!(shown.split(')').next(), Some(default.trim_matches('`')), "{name}: {help}");
            seen += 1;
        }
    }
    assert!(seen > 15, "only {seen} directives were found");
}

/// Where the index of a site without any directive went, to be taken away again.
struct Leftover(PathBuf, bool);

impl Drop for Leftover {
    fn drop(&mut self) {
        let Self(folder, parent_was_there) = self;
        let _ = fs::remove_dir_all(&folder);
        if let (false, Some(parent)) = (*parent_was_there, folder.parent()) {
            let _ = fs::remove_dir(parent);
        }
    }
}

#[test]
fn one_module_and_one_location_are_enough() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).text(
        r#"DocumentRoot "${SITE}/docs"
        <Directory "${SITE}/docs">
            Require all granted
        </Directory>
        <Location "/modoai">
            SetHandler oai-handler
        </Location>"#,
    );
    launch.write("docs/a.txt", "a");
    // Where the system keeps such things; else beside the server's own files.
    let states = ["/var/lib/apache2", "/var/lib/httpd"].map(Path::new);
    let state = states.into_iter().find(|folder| folder.is_dir()).unwrap_or(launch.path()).join("oai");
    let _leftover = Leftover(state.join(format!("127.0.0.1_{}", launch.port())), state.exists());
    let httpd = launch.start();
    let mut client = httpd.client();
    assert_eq!(client.get("/a.txt").expect("an answer").text(), "a");
    if machine::is_root() || state.starts_with(httpd.path()) {
        httpd.wait_for_index(&mut client);
        assert_eq!(listed(&mut client), paths(["a.txt"]));
        httpd.expect_clean_log(&[]);
    } else {
        // Nobody but root may make a folder there, and so the log must say what to do.
        assert_eq!(client.get("/modoai?verb=Identify").expect("an answer").status, 503);
        assert!(httpd.error_log().contains("OAIIndexDir"), "{}", httpd.error_log());
    }
}

#[test]
fn owner_and_expires_of_the_guide_are_in_the_records() {
    if apache::is_missing() {
        return;
    }
    let guide = include_str!("../../../../docs/guide/configuration.md");
    let (_, shown) = guide.split_once("```apache\n").expect("an example");
    let (shown, _) = shown.split_once("```").expect("its end");
    let launch = Launch::new(Mpm::Event).modules(&["mod_headers", "mod_cern_meta"]).ordinary_site();
    let launch = launch.text(&shown.replace("/var/www/html", "${SITE}/docs"));
    let expires = "Thu, 31 Dec 2026 23:59:59 GMT";
    launch.write("docs/report.html", "a report");
    launch.write("docs/.web/report.html.meta", format!("Owner: Web team\nExpires: {expires}\n"));
    launch.write("docs/docs/page.html", "a page");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let records = oai::harvest(&mut client, "verb=ListRecords&metadataPrefix=http_header");
    let headers = |name: &str| {
        let record = records.iter().find(|record| record.identifier.ends_with(name)).expect("listed");
        let metadata = record.metadata.as_ref().expect("not deleted");
        String::from_utf8_lossy(&metadata.bytes).into_owned()
    };
    let report = headers("/report.html");
    for header in [("Owner", "Web team"), ("Expires", expires)] {
        assert!(report.contains(&format!("<header name=\"{}\">{}</header>", header.0, header.1)), "{report}");
    }
    assert!(headers("/docs/page.html").contains("<header name=\"Owner\">Documentation team</header>"));
    assert_eq!(records.len(), 2, "the files of mod_cern_meta are hidden");
}
