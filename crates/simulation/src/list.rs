//! Lists of the simulated server: selection, order, pages and tokens.

use std::fmt::Write as _;

use modoai_protocol::Bound;

use crate::case::{Dates, End, Fault, Limit, Order, Paging, Size, Token};
use crate::server::{Answer, Refusal, Server};
use crate::truth::Item;
use crate::write::escaped;

/// Seconds after which tokens expire that do.
const LIFETIME: i64 = 60;

/// A request for a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    pub(crate) headers: bool,
    pub(crate) from: String,
    pub(crate) until: String,
    pub(crate) set: String,
    /// The position after the last page.
    pub(crate) place: String,
    /// The time and the size at the first request.
    pub(crate) began: i64,
    pub(crate) first_size: usize,
}

impl Server {
    /// The items of a list, in its order.
    fn select(&self, list: &List) -> Result<Vec<usize>, Refusal> {
        let (case, now) = (&self.case, self.clock.unix());
        let dated = !list.from.is_empty() || !list.until.is_empty();
        let (mut from, mut until) = (i64::MIN, i64::MAX);
        match case.dates {
            Dates::Refused if dated => return Err(Refusal::Code("badArgument")),
            Dates::Required if list.from.is_empty() || list.until.is_empty() => {
                return Err(Refusal::Fault(Fault::Status));
            }
            Dates::Ignored | Dates::Refused => {}
            _ => {
                let bound = |text: &str| Bound::parse(text).ok_or(Refusal::Code("badArgument"));
                let skew = i64::from(case.skew);
                if !list.from.is_empty() {
                    from = bound(&list.from)?.first().unix() - skew;
                }
                if !list.until.is_empty() {
                    until = bound(&list.until)?.last().unix() - skew;
                }
                let (earlier, later) = match case.dates {
                    Dates::Exclusive => (1, 1),
                    Dates::UntilExclusive => (0, 1),
                    _ => (0, 0),
                };
                let unit = if case.days { 86_400 } else { 1 };
                from = from.saturating_add(earlier * unit);
                until = until.saturating_sub(if until == i64::MAX { 0 } else { later * unit });
                // A range that ends before it begins is an error of the protocol.
                if list.from > list.until && !list.until.is_empty() {
                    return Err(Refusal::Code("badArgument"));
                }
            }
        }
        let in_set = |item: &Item| list.set.is_empty() || case.sets && item.set() == Some(list.set.as_str());
        let bounded = case.paging == Paging::Bounded;
        let chosen = self.truth.items.iter().filter(|item| {
            self.truth.is_listed(item, now)
                && in_set(item)
                && (from..=until).contains(&self.shown(item))
                && !(bounded && item.visible > list.began)
        });
        let mut chosen: Vec<&Item> = chosen.collect();
        chosen.sort_by_key(|item| self.key(item));
        let mut numbers: Vec<usize> = chosen.into_iter().map(|item| item.number).collect();
        if case.limit > 0 && case.at_limit == Limit::Ends {
            numbers.truncate(case.limit.into());
        }
        Ok(numbers)
    }

    /// The datestamp by which an item is selected: that of its day, if datestamps are days.
    fn shown(&self, item: &Item) -> i64 {
        let skew = i64::from(self.case.skew);
        match self.case.days {
            true => (item.stamp + skew).div_euclid(86_400) * 86_400 - skew,
            false => item.stamp,
        }
    }

    fn key(&self, item: &Item) -> (i64, usize) {
        match self.case.order {
            Order::Datestamp => (item.stamp, item.number),
            Order::Identifier => (0, item.number),
            Order::Hash => (0, item.hash() as usize),
        }
    }

    /// The page of a list after its place.
    pub(crate) fn list(&mut self, mut list: List) -> Answer {
        let mut all = self.select(&list)?;
        let is_first = list.place.is_empty();
        if is_first {
            list.first_size = all.len();
        }
        let real_size = all.len();
        let mut start = 0;
        if self.case.paging == Paging::Snapshot {
            let number = if is_first {
                self.snapshots.push(all.clone());
                self.snapshots.len() - 1
            } else {
                list.place.split_once(':').and_then(|(number, _)| number.parse().ok()).unwrap_or(0)
            };
            all = self.snapshots.get(number).cloned().unwrap_or_default();
            start = list.place.split_once(':').and_then(|(_, offset)| offset.parse().ok()).unwrap_or(0);
            if is_first {
                list.place = format!("{number}:0");
            }
        } else if !is_first {
            start = match self.case.paging {
                Paging::Offset => list.place.parse().unwrap_or(0),
                _ => {
                    let after =
                        list.place.split_once(':').map(|(a, b)| (a.parse().unwrap_or(0), b.parse().unwrap_or(0)));
                    let after = after.unwrap_or((i64::MIN, 0));
                    all.iter().position(|number| self.key(&self.truth.items[*number]) > after).unwrap_or(all.len())
                }
            };
        }
        let size = usize::from(if list.headers { self.case.header_page } else { self.case.page }.max(1));
        let fails_beyond = self.case.limit > 0 && self.case.at_limit == Limit::Fails;
        if fails_beyond && start >= usize::from(self.case.limit) {
            return Err(Refusal::Fault(Fault::Status));
        }
        if all.is_empty() && is_first {
            return Err(Refusal::Code("noRecordsMatch"));
        }
        if start >= all.len() && self.case.end == End::NoRecords {
            return Err(Refusal::Code("noRecordsMatch"));
        }
        let (start, end) = (start.min(all.len()), all.len().min(start + size));
        let shown = if self.case.overlap && start > 0 { start - 1 } else { start };
        let now = self.clock.unix();
        let mut content = String::new();
        for number in &all[shown..end] {
            let item = &self.truth.items[*number];
            if !self.truth.is_listed(item, now) {
                continue;
            }
            if !list.headers && self.is_bad(item) {
                return Err(Refusal::Fault(Fault::Status));
            }
            content += &if list.headers { self.header(item) } else { self.record(item) };
        }
        let token = self.token_after(&list, &all, start, end);
        if is_first && end >= all.len() && token.is_empty() && !self.case.lone_token {
            return Ok(content);
        }
        if token.is_empty() && self.case.end == End::NoToken {
            return Ok(content);
        }
        let announced = match self.case.size {
            Size::Absent => None,
            Size::Right => Some(real_size),
            Size::First => Some(list.first_size),
            Size::TooLarge => Some(real_size + 1),
            Size::TooSmall => Some(real_size.saturating_sub(1)),
            Size::OfStore => Some(self.truth.items.len()),
            Size::OfLimit => Some(real_size.min(usize::from(self.case.limit.max(1)))),
        };
        let announced = announced.map(|size| format!(" completeListSize=\"{size}\"")).unwrap_or_default();
        let _ = write!(content, "<resumptionToken{announced}>{}</resumptionToken>", escaped(&token));
        Ok(content)
    }

    /// The token of the page after this one; empty at the end.
    fn token_after(&mut self, list: &List, all: &[usize], start: usize, end: usize) -> String {
        let place = |server: &Self, end: usize| match server.case.paging {
            Paging::Offset => end.to_string(),
            Paging::Snapshot => format!("{}:{end}", list.place.split(':').next().unwrap_or_default()),
            Paging::Key | Paging::Bounded => match end.checked_sub(1).and_then(|last| all.get(last)) {
                Some(last) => {
                    let (stamp, number) = server.key(&server.truth.items[*last]);
                    format!("{stamp}:{number}")
                }
                None => format!("{}:0", i64::MIN),
            },
        };
        let is_only = start == 0 && end >= all.len();
        let next = if end < all.len() {
            place(self, end)
        } else {
            match self.case.end {
                End::EmptyPage | End::NoRecords if start < all.len() && !is_only => place(self, end),
                End::SelfLoop if !is_only => place(self, start),
                End::Cycle if !is_only => place(self, 0),
                _ => return String::new(),
            }
        };
        self.issued += 1;
        let nonce = if self.case.token == Token::SingleUse { self.issued } else { 0 };
        let odd = if self.case.odd_tokens { "+/=&% " } else { "" };
        let (headers, now) = (u8::from(list.headers), self.clock.unix());
        // A token that expires looks different each time.
        let issued = if self.case.token == Token::Expiring { now } else { 0 };
        let List { from, until, set, began, first_size, .. } = list;
        format!("{headers}!{from}!{until}!{set}!{next}!{began}!{first_size}!{issued}!{nonce}!{odd}x")
    }

    /// Reads a token.
    pub(crate) fn resume(&mut self, token: &str, headers: bool) -> Result<List, Refusal> {
        let parts: Vec<&str> = token.split('!').collect();
        let bad = || Refusal::Code("badResumptionToken");
        let odd = if self.case.odd_tokens { "+/=&% x" } else { "x" };
        let [of_headers, from, until, set, place, began, first_size, issued, _, end] = parts[..] else {
            return Err(bad());
        };
        if end != odd || (of_headers == "1") != headers {
            return Err(bad());
        }
        let number = |text: &str| text.parse::<i64>().unwrap_or_default();
        let is_spent = self.case.token == Token::SingleUse && !self.used.insert(token.to_owned());
        let is_old = self.case.token == Token::Expiring && self.clock.unix() - number(issued) > LIFETIME;
        if is_spent || is_old {
            self.injected += 1;
            return Err(bad());
        }
        Ok(List {
            headers,
            from: from.to_owned(),
            until: until.to_owned(),
            set: set.to_owned(),
            place: place.to_owned(),
            began: number(began),
            first_size: number(first_size) as usize,
        })
    }
}
