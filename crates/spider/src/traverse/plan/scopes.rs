//! Determines the tasks that contain a URL, by its location and its owner, and the restrictions that apply to it.

use jiff::Timestamp;
use modoai_fetch::Url;

use crate::task::{Action, Owners, OwnersError, Plan, Restrictions, Scope, Scoper, Scoping};

/// The scopes of all tasks, prepared for a lookup of every URL.
pub(crate) struct Scopes {
    pub(crate) plan: Plan,
    pub(crate) owners: Owners,
    scopers: Vec<Scoper>,
    restrictions: Restrictions,
    /// The start of the run, which decides the restrictions that have expired.
    began: Timestamp,
}

impl Scopes {
    pub(super) fn new(plan: Plan, began: Timestamp) -> Result<Self, OwnersError> {
        Ok(Self {
            owners: Owners::new(&plan)?,
            scopers: plan.tasks.iter().map(Scoper::new).collect(),
            restrictions: Restrictions::new(&plan.restrictions),
            plan,
            began,
        })
    }

    /// Returns the restriction of a URL.
    pub(super) fn restriction(&self, url: &str) -> Option<Action> {
        self.restrictions.action(url, self.began)
    }

    /// Returns the tasks whose scope includes a URL, or may include it, depending on its owner. Also returns true if no
    /// task names its host.
    pub(super) fn tasks_of(&self, url: &Url) -> (Vec<usize>, bool) {
        let owner = self.owners.of(url);
        let mut tasks = Vec::new();
        let mut is_foreign = true;
        for (task, scoper) in self.scopers.iter().enumerate() {
            // The top of a task belongs to it, regardless of its name or owner.
            let scoping = match scoper.scoping(url, owner) {
                _ if self.is_top(task, url.as_str()) => Scoping::Inside,
                scoping => scoping,
            };
            if scoping != Scoping::Outside {
                tasks.push(task);
                is_foreign &= scoping == Scoping::AskElsewhere;
            }
        }
        (tasks, is_foreign)
    }

    /// Returns true if a task still includes a document whose owner is known: tasks by owner keep it or drop it.
    pub(super) fn includes(&self, task: usize, url: &Url, owner: Option<&str>) -> bool {
        self.plan.tasks[task].scope != Scope::Owner
            || self.is_top(task, url.as_str())
            || self.scopers[task].scoping(url, Some(owner.unwrap_or_default())) == Scoping::Inside
    }

    /// Moves those of the tasks whose top is a URL that has moved permanently or within the same site: a task for
    /// example.org includes www.example.org. Returns a remark for each.
    pub(super) fn move_tops(&mut self, tasks: &[usize], from: &str, to: &Url, is_permanent: bool) -> Vec<String> {
        let mut remarks = Vec::new();
        for task in tasks {
            let is_top = self.is_top(*task, from);
            let moved = &mut self.plan.tasks[*task];
            if !is_top || !may_move(&moved.top, to, moved.scope, is_permanent) {
                continue;
            }
            remarks.push(format!("the start page {} of {} has moved to {to}", moved.top, moved.name));
            moved.top = to.clone();
            self.scopers[*task] = Scoper::new(moved);
        }
        // Paths of owner rules are relative to the tops. The rules were valid before, so they still are.
        if !remarks.is_empty()
            && let Ok(owners) = Owners::new(&self.plan)
        {
            self.owners = owners;
        }
        remarks
    }

    fn is_top(&self, task: usize, url: &str) -> bool {
        self.plan.tasks[task].top.as_str().split('#').next() == Some(url)
    }
}

/// Returns true if a task moves with its top: if the redirect is permanent, or if the target is on the same site. A
/// tree never becomes larger, and a redirect to a login page does not create a new site.
fn may_move(from: &Url, to: &Url, scope: Scope, is_permanent: bool) -> bool {
    let host = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    let folder = |url: &Url| url.path().rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"));
    let is_same_site = host(from) == host(to) && from.port() == to.port();
    let is_wider = scope == Scope::Tree && folder(from) != folder(to) && folder(from).starts_with(&folder(to));
    (is_permanent || is_same_site) && !is_wider
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tops_move_along_and_never_astray() {
        let may = |from: &str, to: &str, scope, is_permanent| {
            may_move(&Url::parse(from).expect("a URL"), &Url::parse(to).expect("a URL"), scope, is_permanent)
        };
        assert!(may("http://example.org/", "https://www.example.org/", Scope::Site, false));
        assert!(may("http://example.org/", "https://example.net/", Scope::Site, true));
        assert!(!may("http://example.org/", "https://login.example.net/", Scope::Site, false));
        assert!(may("http://a/docs", "http://a/docs/", Scope::Tree, true), "smaller is allowed");
        assert!(!may("http://a/docs/", "http://a/login", Scope::Tree, false));
        assert!(!may("http://a/docs/", "http://a/", Scope::Tree, true));
    }
}
