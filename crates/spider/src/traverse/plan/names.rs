//! The table of all URLs: maps URLs to numbers and numbers to URLs, in little more memory than the URLs themselves.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// The table of URLs.
#[derive(Default)]
pub(crate) struct Names {
    text: String,
    /// The position in `text` where each URL ends.
    ends: Vec<u64>,
    numbers: HashTable<u32>,
}

impl Names {
    /// Returns the number of a URL, and true if it is new. Numbers are assigned in order, from 0.
    pub(crate) fn number(&mut self, url: &str) -> (u32, bool) {
        let (text, ends) = (&self.text, &self.ends);
        let hash = xxh3_64(url.as_bytes());
        let hasher = |number: &u32| xxh3_64(name_of(text, ends, *number).as_bytes());
        let entry = self.numbers.entry(hash, |number| name_of(text, ends, *number) == url, hasher);
        match entry {
            hashbrown::hash_table::Entry::Occupied(known) => (*known.get(), false),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let number = ends.len() as u32;
                free.insert(number);
                self.text.push_str(url);
                self.ends.push(self.text.len() as u64);
                (number, true)
            }
        }
    }

    /// Returns the number of a known URL.
    pub(crate) fn find(&self, url: &str) -> Option<u32> {
        let (text, ends) = (&self.text, &self.ends);
        self.numbers.find(xxh3_64(url.as_bytes()), |number| name_of(text, ends, *number) == url).copied()
    }

    /// Returns the number of URLs.
    pub(crate) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Returns the URL of a number.
    pub(crate) fn name(&self, number: u32) -> &str {
        name_of(&self.text, &self.ends, number)
    }
}

fn name_of<'a>(text: &'a str, ends: &[u64], number: u32) -> &'a str {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &text[start as usize..ends[number] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let mut names = Names::default();
        for round in 0..2 {
            for number in 0..1000 {
                let url = format!("http://a/{number}");
                assert_eq!(names.number(&url), (number, round == 0));
                assert_eq!((names.name(number), names.find(&url)), (url.as_str(), Some(number)));
            }
        }
        assert_eq!(names.find("http://b/"), None);
    }
}
