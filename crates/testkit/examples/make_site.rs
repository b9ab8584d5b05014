//! Makes the folders that the benchmark serves: `make_site paper DIR SCALE`, `make_site many DIR FILES`,
//! `make_site awkward DIR`.

use std::path::Path;
use std::process::ExitCode;

use modoai_testkit::site;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let made = match words.as_slice() {
        ["paper", folder, scale] => scale.parse().ok().map(|scale| site::paper(Path::new(folder), scale)),
        ["many", folder, files] => files.parse().ok().map(|files| site::many(Path::new(folder), files)),
        ["awkward", folder] => Some(site::awkward(Path::new(folder)).map(|_| ())),
        _ => None,
    };
    match made {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("make_site: failed to write {}: {error}", words[1]);
            ExitCode::FAILURE
        }
        None => {
            eprintln!("usage: make_site paper DIR SCALE | many DIR FILES | awkward DIR");
            ExitCode::FAILURE
        }
    }
}
