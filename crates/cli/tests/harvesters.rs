//! Who harvested what: the table, the numbers for programs, and where the log is looked for.

use modoai_harvest_log::{Event, FOLDER, Log, Outcome};
use modoai_protocol::Datestamp;
use modoai_testkit::process::Launch;
use modoai_testkit::waiting::wait_until;

use crate::desk::Desk;
use crate::documents::expect_shown;

/// A log beside a catalogue in this folder of the desk.
fn write_log(desk: &Desk, state_dir: &str) {
    let log = Log::open(desk.at(state_dir).join(FOLDER));
    let page = |at: &str, who: &str, list: &str, outcome: Outcome| Event {
        at: Datestamp::parse(at).expect("a date"),
        who: who.to_owned(),
        agent: "modoai-harvest/0.1".to_owned(),
        verb: Some("ListRecords"),
        list: Some(list.to_owned()),
        outcome,
        records: 1000,
        bytes: 1_600_000,
    };
    log.note(&page("2026-01-10T10:00:00Z", "192.0.2.0/24", "oai_dc", Outcome::Answered));
    log.note(&page("2026-01-10T10:00:05Z", "192.0.2.0/24", "oai_dc after=1000", Outcome::Complete));
    log.note(&page("2026-02-01T12:30:59Z", "192.0.2.0/24", "oai_dc from=2026-01-10T10:00:00Z", Outcome::Complete));
    for _ in 0..1234 {
        let refused = page("2026-02-02T00:00:00Z", "user \u{1b}[2Jeve", "oai_dc", Outcome::Refused);
        log.note(&Event { records: 0, bytes: 0, agent: String::new(), ..refused });
    }
}

const TABLE: &str = "\
harvester     requests  records     bytes  refused  errors         last seen         last full      last partial  program
192.0.2.0/24         3    3,000  4.58 MiB        0       0  2026-02-01 12:30  2026-01-10 10:00  2026-02-01 12:30  modoai-harvest/0.1
user \u{fffd}[2Jeve     1,234        0       0 B    1,234       0  2026-02-02 00:00                 -                 -
";

#[test]
fn the_table_says_who_took_how_much_and_when_they_had_everything() {
    let desk = Desk::new();
    write_log(&desk, "state");
    assert_eq!(desk.run(&["harvesters", "--data", "state"]).printed(), TABLE);
    let by_last = desk.run(&["harvesters", "--data", "state", "--sort", "last"]).printed();
    assert!(by_last.lines().nth(1).is_some_and(|line| line.starts_with("user ")), "{by_last}");
    let since = desk.run(&["harvesters", "--data", "state", "--since", "2026-02-02"]).printed();
    assert_eq!(since.lines().count(), 2, "{since}");
    let nobody = desk.run(&["harvesters", "--data", "state", "--since", "2026-03-01"]).printed();
    let log = "state/harvest-log";
    assert_eq!(nobody, format!("no requests since 2026-03-01T00:00:00Z in the harvest log {log}\n"));
}

#[test]
fn the_guide_shows_what_is_printed() {
    let desk = Desk::new();
    let log = Log::open(desk.at("state").join(FOLDER));
    let pages = [
        ("2026-11-01T03:00:00Z", "BASE", "BASE-Harvester/3.2", "oai_dc", Outcome::Answered, 100_000),
        ("2026-11-01T04:10:00Z", "BASE", "BASE-Harvester/3.2", "oai_dc after=100000", Outcome::Complete, 84_113),
        (
            "2026-11-15T03:00:00Z",
            "BASE",
            "BASE-Harvester/3.2",
            "oai_dc from=2026-11-01T03:00:00Z",
            Outcome::Complete,
            412,
        ),
        ("2026-11-12T08:11:00Z", "192.0.2.0/24", "modoai-harvest/0.1", "oai_didl", Outcome::Answered, 20_000),
        (
            "2026-11-12T08:55:00Z",
            "192.0.2.0/24",
            "modoai-harvest/0.1",
            "oai_didl after=20000",
            Outcome::BrokenOff,
            3_150,
        ),
        ("2026-11-14T22:01:00Z", "2001:db8:7::/48", "GPTBot/1.2", "oai_dc", Outcome::Answered, 100),
    ];
    for (at, who, agent, list, outcome, records) in pages {
        let (who, agent, list) = (who.to_owned(), agent.to_owned(), Some(list.to_owned()));
        let at = Datestamp::parse(at).expect("a date");
        let verb = Some("ListRecords");
        log.note(&Event { at, who, agent, verb, list, outcome, records, bytes: records * 1613 });
    }
    for _ in 0..8702 {
        let at = Datestamp::parse("2026-11-14T22:03:00Z").expect("a date");
        let who = "2001:db8:7::/48".to_owned();
        let outcome = Outcome::Refused;
        log.note(&Event { at, who, agent: String::new(), verb: None, list: None, outcome, records: 0, bytes: 0 });
    }
    drop(log);
    let printed = desk.run(&["harvesters", "--data", "state"]).printed();
    let marks = ("<!-- printed by `modoai harvesters` -->\n```\n", "```\n<!-- end of the table -->\n");
    expect_shown("docs/guide/harvesters.md", marks, &printed, "`modoai harvesters` prints");
}

#[test]
fn a_catalogue_has_its_log_beside_it() {
    let desk = Desk::new();
    write_log(&desk, "records");
    desk.write("records/all.sqlite", "");
    assert_eq!(desk.run(&["harvesters", "--catalogue", "records/all.sqlite"]).printed(), TABLE);
    assert_eq!(desk.run(&["harvesters", "--catalogue", "records"]).printed(), TABLE);
}

#[test]
fn a_server_writes_the_log_where_the_command_looks() {
    let desk = Desk::new();
    desk.write("records.jsonl", "{\"identifier\": \"1\", \"title\": \"One\"}\n");
    let import = ["import", "records.jsonl", "--namespace", "example.org", "--into", "archive"];
    assert_eq!(desk.run(&import).status, 0);
    let server = Launch::of_catalogue(desk.at("archive")).start();
    let list = server.client().get("/modoai?verb=ListRecords&metadataPrefix=oai_dc").expect("an answer");
    assert_eq!(list.status, 200);
    // It is noted when it has been sent, so that whoever has it may be earlier.
    wait_until("the list is noted", || {
        desk.run(&["harvesters", "--catalogue", "archive"]).printed().contains("127.0.0.0/24")
    });
}

#[test]
fn a_site_has_its_log_where_its_catalogue_is() {
    let desk = Desk::new();
    desk.run(&["index", "site"]).printed();
    let place = desk.at("site").display().to_string();
    write_log(&desk, &format!("home/.local/state/modoai/sites{place}"));
    assert_eq!(desk.run(&["harvesters", "site"]).printed(), TABLE);
}

#[test]
fn an_apache_has_a_log_for_each_server() {
    let desk = Desk::new();
    write_log(&desk, "a");
    desk.write("b/catalogue.sqlite", "");
    let (a, b) = (desk.at("a"), desk.at("b"));
    let said = format!(
        "# mod_oai roots\n[[server]]\nname = \"a.example.org\"\nfolder = \"{}\"\n\
         [[server]]\nname = \"b.example.org\"\nfolder = \"{}\"\n",
        a.display(),
        b.display()
    );
    desk.write("said", said);
    let printed = desk.run(&["harvesters", "--apache", "--httpd", "cat said #"]).printed();
    let nobody = format!("b.example.org\nno requests in the harvest log {}\n", b.join(FOLDER).display());
    assert_eq!(printed, format!("a.example.org\n{TABLE}{nobody}"));
}

#[test]
fn programs_get_everything() {
    let desk = Desk::new();
    write_log(&desk, "state");
    let printed = desk.run(&["harvesters", "--data", "state", "--json"]).printed();
    let told: serde_json::Value = serde_json::from_str(&printed).expect("an object");
    assert_eq!(told["unreadable"], 0);
    let first = &told["harvesters"][0];
    assert_eq!(first["harvester"], "192.0.2.0/24");
    assert_eq!((&first["lists"], &first["records"]), (&2.into(), &3000.into()));
    assert_eq!(first["complete"], "2026-01-10T10:00:05Z");
    assert_eq!(first["formats"]["oai_dc"]["complete_selection"], "2026-02-01T12:30:59Z");
    assert_eq!(first["longest_list"]["pages"], 2);
    assert_eq!(told["harvesters"][1]["refused"], 1234);
}

#[test]
fn what_is_missing_is_said() {
    let desk = Desk::new();
    let hint = "give the same --data as for `modoai serve`; the log is next to the catalogue";
    let said = format!("modoai: no catalogue found at nowhere\n  hint: {hint}");
    desk.run(&["harvesters", "--data", "nowhere"]).failed(1, &said);
    let said = "modoai: no catalogue found at nothing.sqlite\n  \
        hint: give the same file as for `modoai serve --catalogue`; the log is next to it";
    desk.run(&["harvesters", "--catalogue", "nothing.sqlite"]).failed(1, said);
    let said = "modoai: no site given\n  hint: give the directory DIR, or one of --data, --catalogue and --apache";
    desk.run(&["harvesters"]).failed(64, said);
    let ended = desk.run(&["harvesters", "--data", "state", "--since", "soon"]);
    let needed = "expected a date such as 2026-01-31, or a duration such as 12h or 30d";
    assert!(ended.status == 64 && ended.stderr.contains(needed), "{}", ended.stderr);
}
