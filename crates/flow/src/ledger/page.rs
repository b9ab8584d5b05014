//! Accounts as bytes: a checksum, a length, a key, and numbers one after the other.

use xxhash_rust::xxh3::xxh3_64;

use super::{MOST_LISTS, MOST_LISTS_OF_ONE, Site};
use crate::account::Account;
use crate::account::leases::{Holder, Lease};
use crate::account::promises::{MOST_RUNS, Run, Ticket};

/// Checksum, length, key.
pub(crate) const HEAD: usize = 8 + 8 + 8;

/// Room for one account.
pub(crate) const ACCOUNT: usize = 4096;

/// Room for what concerns all.
pub(crate) const SITE: usize = 16 * 1024;

const _: () = assert!(HEAD + 8 * 10 + 24 * MOST_LISTS_OF_ONE + 40 * MOST_RUNS <= ACCOUNT);
const _: () = assert!(HEAD + 8 * 6 + 24 * MOST_LISTS <= SITE);

/// Something that is kept on a page.
pub(crate) trait Kept: Default {
    fn put(&self, out: &mut Numbers);
    fn take(numbers: &mut Taken<'_>) -> Option<Self>;

    /// The page of this, by what it is found.
    fn to_page(&self, key: u64) -> Vec<u8> {
        let mut out = Numbers(vec![0; HEAD]);
        self.put(&mut out);
        let mut page = out.0;
        let length = (page.len() - HEAD) as u64;
        page[8..16].copy_from_slice(&length.to_le_bytes());
        page[16..24].copy_from_slice(&key.to_le_bytes());
        let sum = xxh3_64(&page[8..]);
        page[..8].copy_from_slice(&sum.to_le_bytes());
        page
    }

    /// What is on a page; none if it is another's, or damaged.
    fn from_page(page: &[u8], key: u64) -> Option<Self> {
        let mut head = Taken(page);
        let (sum, length) = (head.number()?, usize::try_from(head.number()?).ok()?);
        let body = page.get(8..HEAD.checked_add(length)?)?;
        if head.number()? != key || xxh3_64(body) != sum {
            return None;
        }
        Self::take(&mut Taken(&body[HEAD - 8..]))
    }
}

/// Numbers on their way to a page.
pub(crate) struct Numbers(Vec<u8>);

impl Numbers {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn two(&mut self, high: u32, low: u32) {
        self.number(u64::from(high) << 32 | u64::from(low));
    }

    fn leases(&mut self, leases: &[Lease], most: usize) {
        let leases = &leases[..leases.len().min(most)];
        self.number(leases.len() as u64);
        for Lease { number, holder, until } in leases {
            self.number(*number);
            self.two(holder.process, holder.container);
            self.number(*until);
        }
    }
}

/// Numbers on their way from a page.
pub(crate) struct Taken<'a>(&'a [u8]);

impl Taken<'_> {
    fn number(&mut self) -> Option<u64> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    fn two(&mut self) -> Option<(u32, u32)> {
        let number = self.number()?;
        Some(((number >> 32) as u32, number as u32))
    }

    fn many<T>(&mut self, most: usize, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok().filter(|count| *count <= most)?;
        (0..count).map(|_| one(self)).collect()
    }

    fn lease(&mut self) -> Option<Lease> {
        let number = self.number()?;
        let (process, container) = self.two()?;
        Some(Lease { number, holder: Holder { process, container }, until: self.number()? })
    }

    fn run(&mut self) -> Option<Run> {
        let (address, request) = self.two()?;
        let (first, pace) = (self.number()?, self.number()?);
        let (count, spares) = self.two()?;
        let ticket = Ticket { address, request };
        Some(Run { ticket, first, pace, count, spares, spare_until: self.number()? })
    }
}

impl Kept for Account {
    fn put(&self, out: &mut Numbers) {
        let Self { free_at, records, bytes, typical, leases, promises } = self;
        for number in [*free_at, records.full_at, records.limit, bytes.full_at, bytes.limit] {
            out.number(number);
        }
        for number in [typical.records, typical.bytes, typical.time] {
            out.number(number);
        }
        out.leases(&leases.0, MOST_LISTS_OF_ONE);
        let runs = &promises.0[..promises.0.len().min(MOST_RUNS)];
        out.number(runs.len() as u64);
        for Run { ticket, first, pace, count, spares, spare_until } in runs {
            out.two(ticket.address, ticket.request);
            out.number(*first);
            out.number(*pace);
            out.two(*count, *spares);
            out.number(*spare_until);
        }
    }

    fn take(numbers: &mut Taken<'_>) -> Option<Self> {
        let mut account = Self { free_at: numbers.number()?, ..Self::default() };
        for bucket in [&mut account.records, &mut account.bytes] {
            bucket.full_at = numbers.number()?;
            bucket.limit = numbers.number()?;
        }
        let typical = &mut account.typical;
        for number in [&mut typical.records, &mut typical.bytes, &mut typical.time] {
            *number = numbers.number()?;
        }
        account.leases.0 = numbers.many(MOST_LISTS_OF_ONE, Taken::lease)?;
        account.promises.0 = numbers.many(MOST_RUNS, Taken::run)?;
        Some(account)
    }
}

impl Kept for Site {
    fn put(&self, out: &mut Numbers) {
        let Self { clock, horizon, time, leases } = self;
        for number in [clock.offset, clock.last, clock.wall, *horizon, *time] {
            out.number(number);
        }
        out.leases(&leases.0, MOST_LISTS);
    }

    fn take(numbers: &mut Taken<'_>) -> Option<Self> {
        let mut site = Self::default();
        let clock = &mut site.clock;
        for number in [&mut clock.offset, &mut clock.last, &mut clock.wall, &mut site.horizon, &mut site.time] {
            *number = numbers.number()?;
        }
        site.leases.0 = numbers.many(MOST_LISTS, Taken::lease)?;
        Some(site)
    }
}
