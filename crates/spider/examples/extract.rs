//! How fast pages are read: `cargo run --release -p modoai-spider --example extract -- FOLDER`.
//!
//! Every `.html` below the folder is read once from disk, and then extracted as if it had been fetched. What is told is the
//! time of the processor, where the system knows it: other programs would only blur it.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use modoai_spider::extract::{Source, extract};
use modoai_spider::reference::Target;
use url::Url;

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    let mut pages = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let name = path.strip_prefix(&root).map_err(io::Error::other)?.to_string_lossy().into_owned();
                let url =
                    Url::parse("http://127.0.0.1/").and_then(|base| base.join(&name)).map_err(io::Error::other)?;
                pages.push((url, fs::read(&path)?));
            }
        }
    }

    let (mut bytes, mut references, mut anchors, mut web, mut fragments, mut mail) = (0, 0, 0, 0, 0, 0);
    let begin = (Instant::now(), processor_time());
    for (url, body) in &pages {
        let source = Source { url, media_type: Some("text/html"), charset: None, links: &[], body };
        let page = extract(&source);
        bytes += body.len();
        references += page.references.len();
        anchors += page.anchors.len();
        for reference in &page.references {
            match &reference.target {
                Target::Web { fragment, .. } => {
                    web += 1;
                    fragments += u64::from(fragment.is_some());
                }
                Target::Mail { .. } => mail += 1,
                Target::Elsewhere { .. } | Target::Invalid { .. } => {}
            }
        }
    }
    let spent = match (begin.1, processor_time()) {
        (Some(before), Some(after)) => after - before,
        _ => begin.0.elapsed(),
    };
    let seconds = spent.as_secs_f64();
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{} pages, {references} references ({web} to the web, {fragments} with a fragment, {mail} of mail), {anchors} anchors; \
         {megabytes:.1} MB in {seconds:.3} s, {:.0} MB/s",
        pages.len(),
        megabytes / seconds
    );
    Ok(())
}

/// How long this thread has been running on a processor.
fn processor_time() -> Option<Duration> {
    let statistics = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    statistics.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
