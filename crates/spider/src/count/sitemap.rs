//! Fetches sitemaps: the URLs that a site lists. Indexes of sitemaps are followed, compressed ones are decompressed.

use std::collections::{HashSet, VecDeque};

use modoai_fetch::{Ask, Client, Gate, Url};

use crate::extract::{self, Form, Source};
use crate::reference::{Kind, Target};

/// The maximum size of a sitemap. The standard allows 50 MB; some are larger.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The maximum number of sitemaps. The standard allows an index 50,000 entries, none of which is an index.
const MOST_MAPS: usize = 50_000;

/// The result of fetching sitemaps.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// The number of sitemaps that were read.
    pub maps: u64,
    /// The URLs of sitemaps that could not be read, with the reasons.
    pub failed: Vec<(String, String)>,
}

/// Returns the sitemaps that a site's robots.txt lists.
pub async fn named_by_robots(client: &Client, site: &Url) -> Vec<Url> {
    let gate = Gate::new(client.clone());
    let Ok(robots) = gate.robots(site).await else { return Vec::new() };
    robots.sitemaps().iter().filter_map(|named| site.join(named).ok()).collect()
}

/// Reads sitemaps and those that they list, and calls `each` with every listed URL.
pub async fn fetch(client: &Client, maps: Vec<Url>, each: &mut dyn FnMut(&str)) -> Read {
    let mut read = Read::default();
    let mut seen: HashSet<Url> = maps.iter().cloned().collect();
    let mut waiting = VecDeque::from(maps);
    while let Some(map) = waiting.pop_front() {
        let body = match get(client, &map).await {
            Ok(body) => body,
            Err(why) => {
                read.failed.push((map.into(), why));
                continue;
            }
        };
        match parse(&map, &body, each) {
            Ok(others) => {
                read.maps += 1;
                for other in others {
                    if seen.len() < MOST_MAPS && seen.insert(other.clone()) {
                        waiting.push_back(other);
                    }
                }
            }
            Err(why) => read.failed.push((map.into(), why)),
        }
    }
    read
}

async fn get(client: &Client, map: &Url) -> Result<Vec<u8>, String> {
    let mut answer = client.get(Ask::new(map.clone())).await.map_err(|error| error.to_string())?;
    if answer.status != 200 {
        return Err(format!("HTTP {}", answer.status));
    }
    let mut body = Vec::new();
    while let Some(piece) = answer.body.chunk().await.map_err(|error| error.to_string())? {
        if body.len() + piece.len() > MOST_BYTES {
            return Err("too large".to_owned());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// Reads one sitemap, compressed or not. Returns the sitemaps that it lists, if it is an index.
pub fn parse(url: &Url, body: &[u8], each: &mut dyn FnMut(&str)) -> Result<Vec<Url>, String> {
    // A sitemap is read as one regardless of its media type.
    let source = Source { url, media_type: None, charset: None, links: &[], body };
    let (page, is_whole) = extract::extract_sitemap(&source, MOST_BYTES);
    if !is_whole {
        return Err("too large, or damaged compressed data".to_owned());
    }
    if page.form != Form::Sitemap {
        return Err("not a sitemap".to_owned());
    }
    let mut others = Vec::new();
    for reference in &page.references {
        let Target::Web { url, .. } = &reference.target else { continue };
        match reference.kind {
            Kind::SitemapFile => others.extend(Url::parse(url)),
            Kind::Sitemap => each(url),
            _ => {}
        }
    }
    Ok(others)
}

#[cfg(test)]
mod checks {
    use super::*;

    fn parsed(body: &str) -> Result<(Vec<String>, Vec<Url>), String> {
        let mut urls = Vec::new();
        let url = Url::parse("http://h/map").expect("a URL");
        let others = parse(&url, body.as_bytes(), &mut |url| urls.push(url.to_owned()))?;
        Ok((urls, others))
    }

    #[test]
    fn claims_and_further_maps_are_told() {
        let map = "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
                   <url><loc>http://h/a?b=1&amp;c=2</loc></url><url><loc> http://h/b </loc></url></urlset>";
        assert_eq!(parsed(map).expect("a site map").0, ["http://h/a?b=1&c=2", "http://h/b"]);
        let index = "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
                     <sitemap><loc>http://h/m1.xml.gz</loc></sitemap></sitemapindex>";
        let (urls, others) = parsed(index).expect("an index");
        assert!(urls.is_empty());
        assert_eq!(others[0].as_str(), "http://h/m1.xml.gz");
        assert_eq!(parsed("http://h/x\nhttp://h/y\n").expect("a list").0.len(), 2);
        assert!(parsed("<html><p>not found").is_err());
    }
}
