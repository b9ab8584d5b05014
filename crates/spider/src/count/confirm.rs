//! Requests the URLs that only a sitemap lists, so that the count shows which of them exist, which are missing and
//! which are forbidden. Each is requested once, by HEAD, or by GET if HEAD is not reliable; robots.txt is obeyed.

use std::sync::Arc;

use modoai_fetch::{Client, Url};
use tokio::task::JoinSet;

use super::{Fate, Ledger};
use crate::traverse::Options;
use crate::traverse::plan::{FetchJob, Method};
use crate::traverse::visit::{Visited, Visitor};

/// Requests the URLs that files, repository and crawl do not confirm. Returns the number of URLs.
pub async fn confirm(ledger: &mut Ledger, client: &Client, options: &Options) -> usize {
    let visitor = Arc::new(Visitor::new(client.clone(), options));
    let mut waiting = ledger.unconfirmed();
    let total = waiting.len();
    let mut visits = JoinSet::new();
    loop {
        while visits.len() < options.per_host.max(1)
            && let Some(claim) = waiting.pop()
        {
            visits.spawn(visit(Arc::clone(&visitor), claim));
        }
        match visits.join_next().await {
            // A visit that panics does not indicate a problem of its URL.
            Some(visited) => {
                if let Ok((claim, fate)) = visited {
                    ledger.confirmed(&claim, fate);
                }
            }
            None => return total,
        }
    }
}

async fn visit(visitor: Arc<Visitor>, claim: String) -> (String, Fate) {
    let Ok(url) = Url::parse(&claim) else { return (claim, Fate::Untested) };
    let mut visited = Arc::clone(&visitor).go(job(&url, Method::Head)).await;
    if visited.is_missing_by_head {
        visited = visitor.go(job(&url, Method::Get)).await;
    }
    let Visited { conclusion, .. } = visited;
    (claim, Fate::from(&conclusion.outcome))
}

fn job(url: &Url, method: Method) -> FetchJob {
    FetchJob {
        node: 0,
        url: url.clone(),
        method,
        referer: None,
        etag: None,
        modified: None,
        is_home: true,
        is_action: false,
        is_sitemap: false,
    }
}
