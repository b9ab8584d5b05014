//! Cookies of limited number and size. Some repositories tie a resumption token to the session, so cookies are
//! returned; the memory that a server can occupy with them is bounded.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use reqwest::cookie::{CookieStore, Jar};
use reqwest::header::HeaderValue;
use url::Url;

/// The number of cookies of one response that are read.
const PER_ANSWER: usize = 32;
/// The longest cookie that is kept. Browsers have the same limit.
const LONGEST: usize = 4096;
/// The number of cookies that are accepted from one host before its jar is renewed.
const PER_JAR: usize = 1000;
/// The largest number of bytes that is copied into the new jar.
const CARRIED: usize = 8192;
/// The number of hosts whose cookies are kept.
const HOSTS: usize = 4096;

/// The cookies of all hosts. Each host has a jar: no host receives the cookies of another one, and a host that fills
/// its jar loses only its own cookies.
#[derive(Default)]
pub(crate) struct Cookies {
    jars: Mutex<HashMap<String, Kept>>,
}

#[derive(Default)]
struct Kept {
    jar: Jar,
    taken: usize,
}

impl CookieStore for Cookies {
    fn set_cookies(&self, cookies: &mut dyn Iterator<Item = &HeaderValue>, url: &Url) {
        let Some(host) = url.host_str() else { return };
        let mut cookies = cookies.filter(|cookie| cookie.len() <= LONGEST).take(PER_ANSWER).peekable();
        if cookies.peek().is_none() {
            return;
        }
        let mut jars = self.jars.lock().unwrap_or_else(PoisonError::into_inner);
        if jars.len() >= HOSTS && !jars.contains_key(host) {
            // A lost session means that one list is requested again. This number of hosts at a time has never been
            // observed.
            jars.clear();
        }
        let kept = jars.entry(host.to_owned()).or_default();
        if kept.taken >= PER_JAR {
            *kept = kept.renewed(url);
        }
        let mut taken = 0;
        kept.jar.set_cookies(&mut cookies.inspect(|_| taken += 1), url);
        kept.taken += taken;
    }

    fn cookies(&self, url: &Url) -> Option<HeaderValue> {
        let jars = self.jars.lock().unwrap_or_else(PoisonError::into_inner);
        jars.get(url.host_str()?)?.jar.cookies(url)
    }
}

impl Kept {
    /// Returns a jar with only the cookies that are in use at this URL.
    fn renewed(&self, url: &Url) -> Self {
        let renewed = Self::default();
        if let Some(in_use) = self.jar.cookies(url).filter(|in_use| in_use.len() <= CARRIED) {
            for cookie in in_use.to_str().unwrap_or_default().split("; ") {
                renewed.jar.add_cookie_str(&format!("{cookie}; Path=/"), url);
            }
        }
        renewed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cookies: &Cookies, url: &Url, values: &[String]) {
        let values: Vec<_> = values.iter().map(|value| HeaderValue::from_str(value).expect("a value")).collect();
        cookies.set_cookies(&mut values.iter(), url);
    }

    #[test]
    fn cookies_go_back_to_their_host_only() {
        let cookies = Cookies::default();
        let (a, b) =
            (Url::parse("http://a.example/x").expect("a URL"), Url::parse("http://b.example/x").expect("a URL"));
        set(&cookies, &a, &["session=1; Path=/; HttpOnly".into()]);
        assert_eq!(cookies.cookies(&a).expect("one"), "session=1");
        assert_eq!(cookies.cookies(&b), None);
    }

    #[test]
    fn a_host_that_never_stops_is_bounded_and_keeps_its_session() {
        let cookies = Cookies::default();
        let url = Url::parse("http://a.example/x").expect("a URL");
        set(&cookies, &url, &["session=1; Path=/".into()]);
        for number in 0..3 * PER_JAR {
            set(&cookies, &url, &[format!("n{number}=x; Path=/p{number}")]);
        }
        assert_eq!(cookies.cookies(&url).expect("one"), "session=1");
        let jars = cookies.jars.lock().expect("not poisoned");
        assert!(jars["a.example"].taken <= PER_JAR);
    }
}
