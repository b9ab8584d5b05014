//! Extracts references from web manifests: the start page of an application, and its images.

use serde_json::Value;

use super::gather::{Gathered, fact};
use super::resolve::Resolver;
use crate::reference::Kind;

/// The maximum number of bytes; a manifest is small, and its tree is many times as large.
pub(super) const MOST: usize = 4 << 20;

/// Reads a manifest. JSON has no line numbers.
pub(super) fn read(text: &str, resolver: &Resolver, gathered: &mut Gathered) {
    let Some(manifest) = text.get(..text.len().min(MOST)).and_then(|text| serde_json::from_str::<Value>(text).ok())
    else {
        return;
    };
    gathered.page.title = manifest["name"].as_str().and_then(fact);
    let mut add = |kind, name: &Value, url: &Value| {
        if let Some(url) = url.as_str() {
            gathered.add(resolver, kind, 0, name.as_str().unwrap_or_default(), url);
        }
    };
    add(Kind::ManifestStart, &Value::Null, &manifest["start_url"]);
    for picture in list(&manifest["icons"]).chain(list(&manifest["screenshots"])) {
        add(Kind::ManifestIcon, &picture["label"], &picture["src"]);
    }
    for shortcut in list(&manifest["shortcuts"]) {
        add(Kind::ManifestStart, &shortcut["name"], &shortcut["url"]);
        for icon in list(&shortcut["icons"]) {
            add(Kind::ManifestIcon, &shortcut["name"], &icon["src"]);
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
