use std::time::Duration;

use super::*;

#[derive(Debug, Default, PartialEq)]
struct Server {
    port: u16,
    name: String,
    file: String,
    size: u64,
    wait: Duration,
    areas: Vec<Area>,
}

#[derive(Debug, Default, PartialEq)]
struct Area {
    path: String,
}

const AREA: &[Setting<Area>] = &[Setting::of_key("path", |area, v| v.text().map(|path| area.path = path.to_owned()))];

const SERVER: &[Setting<Server>] = &[
    Setting::of_key("port", |s, v| v.number(1..=65_535).map(|port| s.port = port)),
    Setting::of_key("name", |s, v| v.text().map(|name| s.name = name.to_owned())),
    Setting::of_key("file", |s, v| v.path().map(|path| s.file = path.display().to_string())),
    Setting::of_key("size", |s, v| v.bytes().map(|bytes| s.size = bytes)),
    Setting::of_key("wait", |s, v| v.interval().map(|time| s.wait = time)),
    Setting::of_key("area", |s, v| {
        let area = |table| {
            let mut area = Area::default();
            fill(table, &mut (AREA, &mut area))?;
            Some(area).filter(|area| !area.path.is_empty()).ok_or_else(|| table.problem("needs a path"))
        };
        s.areas = v.tables("area")?.into_iter().map(area).collect::<Result<_, _>>()?;
        Ok(())
    }),
];

const FORMER: Former = &[("title", "is name now")];

fn loaded(text: &str) -> Result<Server, Problem> {
    let mut server = Server::default();
    load(text, Path::new("/etc"), &mut (SERVER, &mut server, FORMER)).map(|()| server)
}

#[test]
fn errors_have_the_line_and_the_key() {
    for (text, line, what) in [
        ("port = 1\nnmae = 'x'", 2, "unknown setting 'nmae'; did you mean 'name'?"),
        ("zzz = 1", 1, "unknown setting 'zzz'; expected one of port, name, file, size, wait, area"),
        ("\nport = 0", 2, "setting 'port' needs a whole number from 1 to 65535"),
        ("port = 'x'", 1, "setting 'port' needs a whole number from 1 to 65535"),
        ("name = [\n'x']", 1, "setting 'name' needs text in quotes"),
        ("title = 'x'", 1, "setting 'title' is name now"),
        ("wait = 0", 1, "setting 'wait' needs a duration longer than 0"),
        ("area = 'x'", 1, "setting 'area' needs to be written as [[area]]"),
        ("[[area]]\npath = '/'\n[[area]]\n", 3, "setting 'area' needs a path"),
        ("[[area]]\npath = 1", 2, "setting 'path' needs text in quotes"),
        ("[[area]]\npaht = '/'", 2, "unknown setting 'paht'; did you mean 'path'?"),
        (
            "[[area]]\npath = '/'\nport = 1",
            3,
            "setting 'port' applies to the whole file; move it above the first line with brackets",
        ),
    ] {
        assert_eq!(
            loaded(text),
            Err(Problem { kind: loaded(text).expect_err(text).kind, ..Problem::complete(Some(line), what.to_owned()) })
        );
    }
    let problem = loaded("\nport =\n").expect_err("no TOML");
    assert_eq!(problem.place(Path::new("a.toml")), "a.toml:2");
    assert!(problem.what.starts_with("invalid TOML: "), "{problem}");
}

#[test]
fn paths_are_relative_to_the_file_and_others_to_the_current_directory() {
    assert_eq!(loaded("file = 'x/y'").expect("a file").file, "/etc/x/y");
    assert_eq!(loaded("file = '/x'").expect("a file").file, "/x");
    assert_eq!(loaded("file = ''").expect("none").file, "");
    let mut server = Server::default();
    assign("file=x/y", &mut (SERVER, &mut server)).expect("a file");
    assert_eq!(server.file, "x/y");
}

#[test]
fn the_nearest_word_is_named_in_any_case_and_others_are_shortened() {
    let known = ["TopURL", "IndexURL"];
    assert_eq!(unknown("name", "topurl", &known), "unknown name 'topurl'; did you mean 'TopURL'?");
    let long = format!("\u{1b}{}", "x".repeat(1000));
    let shown = format!("unknown name '\u{fffd}{}'; expected one of TopURL, IndexURL", "x".repeat(79));
    assert_eq!(unknown("name", &long, &known), shown);
}

#[test]
fn an_assignment_needs_no_quotes() {
    let mut server = Server::default();
    let mut target = (SERVER, &mut server, FORMER);
    for assignment in ["name=My site", "size=64K", "port=7", "wait=2h", "area=[{ path = '/a' }]"] {
        assign(assignment, &mut target).expect(assignment);
    }
    for (assignment, what) in [
        ("name", "setting 'name' has no value; write key=value"),
        ("title=x", "setting 'title' is name now"),
        ("size=lots", "setting 'size' needs a number of bytes, such as 65536, \"64K\", \"16M\" or \"1G\""),
    ] {
        assert_eq!(assign(assignment, &mut target), Err(Problem::complete(None, what.to_owned())));
    }
    let area = Area { path: "/a".to_owned() };
    let (name, wait) = ("My site".to_owned(), Duration::from_secs(7200));
    assert_eq!(server, Server { port: 7, name, file: String::new(), size: 64 << 10, wait, areas: vec![area] });
}

#[test]
fn variables_are_read_also_under_former_names() {
    let mut server = Server::default();
    let mut target = (SERVER, &mut server, FORMER);
    let lookup = |name: &str| (name == "MODOAI_TITLE").then(|| "x".to_owned());
    let (name, problem) = load_variables(lookup, &mut target).expect_err("a former name");
    assert_eq!((name.as_str(), problem.what.as_str()), ("MODOAI_TITLE", "setting 'title' is name now"));
    load_variables(|name| (name == "MODOAI_PORT").then(|| "80".to_owned()), &mut target).expect("a port");
    assert_eq!(server.port, 80);
}

#[test]
fn units_are_letters_after_the_number() {
    let bytes = |text: &str| Value::from(text).bytes().ok();
    assert_eq!(
        [bytes("1"), bytes("2k"), bytes(" 3 M"), bytes("1G")],
        [Some(1), Some(2048), Some(3 << 20), Some(1 << 30)]
    );
    assert_eq!([bytes(""), bytes("K"), bytes("-1"), bytes("99999999999G"), bytes("1T")], [None; 5]);
    let seconds = |text: &str| Value::from(text).duration().ok().map(|time| time.as_secs());
    assert_eq!([seconds("30"), seconds("2m"), seconds("1d")], [Some(30), Some(120), Some(86_400)]);
    assert_eq!([seconds("400d"), seconds("1w"), seconds("ä")], [None; 3]);
}
