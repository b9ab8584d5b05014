//! The end-to-end tests: the real `modoai` command, spoken to through HTTP. One binary, so that it links once.

mod access;
mod any_tree;
mod crash;
mod example_site;
mod formats;
mod freshness;
mod mounts;
mod oai;
mod permissions;
mod rules;

use std::fs;
use std::path::Path;

#[test]
fn every_file_of_tests_is_part_of_this_binary() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let main = fs::read_to_string(folder.join("main.rs")).expect("this file");
    for entry in fs::read_dir(folder).expect("this folder") {
        let path = entry.expect("readable").path();
        let module = path.file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(
            module == "main" || main.contains(&format!("mod {module};\n")),
            "{} is not declared in main.rs, so its tests never run",
            path.display()
        );
    }
}
