//! Any task file, with any files beside it, becomes a plan or an error without panic, and a plan can be used.
//!
//! The files of the input are separated by zero bytes: the task file, then those that it may name as `a`, `s` and `o`.

#![no_main]

use std::io;
use std::path::Path;

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use modoai_fuzz::task::{Owners, Plan, Restrictions, Scoper, Scoping};
use url::Url;

const NAMES: [&str; 4] = ["tasks", "a", "s", "o"];

const PAGES: [&str; 4] = ["http://h/", "https://h/a/b.css?c=/d", "http://h:8001/%7Ea/%2Fb", "http://other/a/"];

fuzz_target!(|bytes: &[u8]| {
    let files: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let mut open = |path: &Path| {
        let at = NAMES.iter().position(|name| Path::new(name) == path);
        at.and_then(|at| files.get(at)).map(|file| file.to_vec()).ok_or(io::ErrorKind::NotFound.into())
    };
    let plan = match Plan::read_with(Path::new("tasks"), Timestamp::UNIX_EPOCH, &mut open) {
        Ok(plan) => plan,
        Err(error) => return assert!(!error.to_string().is_empty(), "refused without a reason"),
    };
    assert!(!plan.tasks.is_empty(), "there is something to do");
    let owners = Owners::new(&plan).expect("the plan was tried with its owners");
    let restrictions = Restrictions::new(&plan.restrictions);
    for restriction in &plan.restrictions {
        let found = restrictions.action(&restriction.prefix, Timestamp::UNIX_EPOCH);
        assert!(found.is_some(), "{} is its own prefix", restriction.prefix);
    }
    let pages = PAGES.map(|page| Url::parse(page).expect("a URL"));
    for task in &plan.tasks {
        let scoper = Scoper::new(task);
        assert_eq!(scoper.scoping(&task.top, None), Scoping::Inside, "{}", task.top);
        for prefix in task.exclude.iter().filter(|prefix| **prefix != task.top.as_str()) {
            let excluded = Url::parse(prefix).expect("prefixes are URLs");
            // Another spelling of the top is the top.
            if scoper.scoping(&excluded, Some(&task.name)) == Scoping::Inside {
                assert_eq!(excluded.host_str(), task.top.host_str(), "{prefix} is excluded");
            }
        }
        for page in &pages {
            scoper.scoping(page, owners.of(page));
        }
    }
});
