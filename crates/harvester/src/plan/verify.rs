//! Comparing on request: all identifiers with what is stored. What is new is fetched, what no longer exists is passed on as
//! deleted.

use super::Op;
use super::end::Halves;
use super::facts::{Facts, Lacking};
use crate::state::{List, OpenWindow};
use crate::summary::Gap;
use crate::window::Window;

/// The number of items that are looked up, to request some of them by identifier before their deletion is trusted.
const MAX_UNLISTED: usize = 1000;

impl Facts {
    pub(super) fn verify(&mut self, sets: &[String]) -> Lacking<()> {
        let first = self.number(Op::NewNumber(Window::ALL))?;
        let (mut whole, mut unproven) = (true, false);
        for set in sets {
            let list = self.stored_list(set)?;
            match self.listed_whole(&list)? {
                Halves::NoMore => {}
                Halves::More => whole = false,
                Halves::Unknown => unproven = true,
            }
        }
        self.fetch_missing()?;
        // Only a list of everything shows that something is in no list.
        let all_sets = sets.iter().any(String::is_empty);
        let selected = all_sets || self.store(Op::Lists)?.lists()?.iter().all(|list| sets.contains(&list.set));
        let is_everything = !self.is_selective() && selected;
        // A list that has everything that is stored agrees with the harvest, and no deletion follows from it.
        whole &= !unproven || is_everything && self.store(Op::Unlisted { pass: first, limit: 1 })?.names()?.is_empty();
        if whole && is_everything {
            let unlisted = self.store(Op::Unlisted { pass: first, limit: MAX_UNLISTED })?.names()?.clone();
            whole = self.are_deleted(&unlisted)?;
        }
        if whole && is_everything {
            let (missing, items) = (self.number(Op::UnlistedCount(first))?, self.number(Op::ItemCount)?);
            if self.options.max_deleted.allows(missing.cast_unsigned(), items.cast_unsigned()) {
                self.store(Op::Delete { pass: first })?;
            } else {
                let reason = format!(
                    "{missing} of {items} records no longer exist; too many to delete \
                     (to delete them, use --accept-deletions)"
                );
                self.gaps.push(Gap { what: "list".to_owned(), reason, ..Gap::default() });
            }
        }
        if !whole {
            let reason = "failed to list all identifiers; deletions are unknown".to_owned();
            self.gaps.push(Gap { what: "list".to_owned(), reason, ..Gap::default() });
        }
        Ok(())
    }

    /// Lists all identifiers of a list, and checks if there are more. An unverified end is checked like that of a list
    /// of records.
    fn listed_whole(&mut self, list: &List) -> Lacking<Halves> {
        let pass = OpenWindow::new(0, list.window, &list.set);
        let Some(count) = self.count(list, &pass)? else { return Ok(Halves::More) };
        // A server that lost everything is more likely to be renewing its index.
        let is_void = count.progress.fresh == 0 && list.set.is_empty() && list.window == Window::ALL;
        if is_void && self.number(Op::ItemCount)? > 0 {
            return Ok(Halves::More);
        }
        if self.is_whole(&count, None) {
            return Ok(Halves::NoMore);
        }
        if !count.how.is_natural() {
            return Ok(Halves::More);
        }
        let (is_short, unknown) = (count.progress.is_short(), count.found.overlooked());
        Ok(match self.halves(list, &OpenWindow { progress: count.progress, ..pass }, unknown)? {
            Halves::Unknown if is_short => Halves::More,
            halves => halves,
        })
    }
}
