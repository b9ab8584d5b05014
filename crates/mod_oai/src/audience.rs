//! Finds the audiences of a requester (decision 016): the attributes that httpd requires of it to GET an item.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;

use modoai_httpd::asker::Asker;
use modoai_httpd::partial::Part;
use modoai_httpd::probe::{Probe, Verdict};
use modoai_httpd::request::Request;
use modoai_repository::audience::{Audience, Digests, needed};
use modoai_repository::item::Item;

/// Headers that authenticate a requester. The last one is preferred if several are sufficient: passwords change less often
/// than cookies.
const CREDENTIALS: [&str; 3] = ["cookie", "proxy-authorization", "authorization"];

/// The attribute of the address.
const ADDRESS: &str = "@address";

/// The attribute of a TLS connection.
const TLS: &str = "@tls";

/// The attribute of an authenticated user, independent of password and cookie.
const USER: &str = "@user";

/// Number of directories, and of sets of attributes, that are cached during a request.
const MAX_CACHED: usize = 256;

/// The attributes of a requester.
pub(crate) struct Requester<'r> {
    request: &'r Request<'r>,
    asker: &'r Asker<'r>,
    digests: &'r Digests,
    /// Names and values, in the order in which [`needed`] tries to remove them.
    attributes: Vec<(String, Vec<u8>)>,
    /// The user that httpd authenticated for the request to the repository.
    user: Option<Vec<u8>>,
    /// Requesters with part of the attributes, by the names of these.
    partial: RefCell<HashMap<Vec<String>, Asker<'r>>>,
    /// The attributes that the last item of a directory required. Other items of the directory mostly require the same.
    needed: RefCell<HashMap<String, Vec<String>>>,
    /// The last item that was probed, and the user that httpd authenticated for it.
    last_user: RefCell<Option<(String, Option<Vec<u8>>)>>,
    /// True if the requester's credentials differ from those that an item was listed for.
    has_guessed: Cell<bool>,
}

impl<'r> Requester<'r> {
    pub(crate) fn new(request: &'r Request<'r>, asker: &'r Asker<'r>, digests: &'r Digests) -> Self {
        let (credentials, mut attributes): (Vec<_>, Vec<_>) =
            asker.header_values().into_iter().partition(|(name, _)| CREDENTIALS.contains(&name.as_str()));
        for (name, value) in &mut attributes {
            if name == "user-agent" {
                // The next version of a program is the same requester.
                value.retain(|byte| !byte.is_ascii_digit() && *byte != b'.');
            }
        }
        attributes.sort_unstable();
        attributes.push((ADDRESS.to_owned(), block_of(request.address())));
        for name in CREDENTIALS {
            attributes.extend(credentials.iter().find(|(given, _)| given == name).cloned());
        }
        attributes.extend(asker.tls().map(|certificate| (TLS.to_owned(), certificate)));
        let user = request.user().map(|user| identity(request.realm().unwrap_or_default(), user));
        let (partial, needed, last_user) = (RefCell::default(), RefCell::default(), RefCell::default());
        let has_guessed = Cell::new(false);
        Self { request, asker, digests, attributes, user, partial, needed, last_user, has_guessed }
    }

    /// Notes the user that httpd authenticated for a probe.
    pub(crate) fn note(&self, item: &Item, probe: &Probe<'_>) {
        let user = probe.user().map(|(realm, user)| identity(realm, user));
        self.last_user.replace(Some((item.name.clone(), user)));
    }

    /// The audiences to record when an item is listed for the requester: one of the required attributes; and, if credentials
    /// are among them, one with the authenticated user in their place.
    pub(crate) fn audiences(&self, item: &Item, secret: &[u8; 32]) -> io::Result<Vec<Audience>> {
        let path = format!("/{}", item.name);
        let folder = item.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let usual = self.needed.borrow().get(folder).cloned();
        let needs = match usual {
            Some(needs) if self.can_get(&path, &needs)? => needs,
            _ => {
                let names: Vec<&str> = self.attributes.iter().map(|(name, _)| name.as_str()).collect();
                let needs = needed(&names, |kept| {
                    let mut kept: Vec<String> = kept.iter().map(|name| (*name).to_owned()).collect();
                    kept.sort_unstable();
                    self.can_get(&path, &kept)
                })?;
                let mut cache = self.needed.borrow_mut();
                if cache.len() >= MAX_CACHED {
                    cache.clear();
                }
                cache.insert(folder.to_owned(), needs.clone());
                needs
            }
        };
        let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
        let mut audiences: Vec<Audience> = self.audience(&needs, None, secret).into_iter().collect();
        if let (true, Some(user)) = (needs.iter().any(|name| CREDENTIALS.contains(name)), self.user_for(item)) {
            let mut needs: Vec<&str> = needs.into_iter().filter(|name| !CREDENTIALS.contains(name)).collect();
            needs.push(USER);
            needs.sort_unstable();
            audiences.extend(self.audience(&needs, Some(&user), secret));
        }
        Ok(audiences)
    }

    /// Returns true if the requester belongs to an audience that an item was listed for.
    pub(crate) fn belongs_to(&self, audience: &Audience, item: &Item, secret: &[u8; 32]) -> bool {
        let needs: Vec<&str> = audience.needs.split_ascii_whitespace().collect();
        let is = |user: Option<&Vec<u8>>| self.audience(&needs, user, secret).is_some_and(|own| own == *audience);
        if !needs.contains(&USER) {
            let belongs = is(None);
            if !belongs && needs.contains(&"authorization") && self.has_attribute("authorization") {
                self.has_guessed.set(true);
            }
            return belongs;
        }
        is(self.user.as_ref()) || is(self.user_for(item).as_ref())
    }

    /// Returns true if the requester's password was compared with that of others, and differs from it.
    pub(crate) fn has_guessed(&self) -> bool {
        self.has_guessed.get()
    }

    fn has_attribute(&self, name: &str) -> bool {
        self.attributes.iter().any(|(own, _)| own == name)
    }

    /// The audience of requesters with the same values of these attributes; `None` if the requester lacks one of them.
    fn audience(&self, needs: &[&str], user: Option<&Vec<u8>>, secret: &[u8; 32]) -> Option<Audience> {
        let value = |name: &str| match name {
            USER => user.map(Vec::as_slice),
            name => self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_slice()),
        };
        let values: Option<Vec<_>> = needs.iter().map(|name| Some((*name, value(name)?))).collect();
        Some(self.digests.audience(secret, &values?))
    }

    /// The user that httpd authenticates for the URL of an item. If the item is deleted, the rules on its path decide.
    fn user_for(&self, item: &Item) -> Option<Vec<u8>> {
        let known =
            self.last_user.borrow().as_ref().filter(|(name, _)| *name == item.name).map(|(_, user)| user.clone());
        if let Some(user) = known {
            return user;
        }
        let has_credentials = CREDENTIALS.iter().any(|name| self.has_attribute(name));
        if has_credentials {
            let path = format!("/{}", item.name);
            self.note(item, &self.asker.enter(&path));
        }
        self.last_user.borrow().as_ref().filter(|(name, _)| *name == item.name).and_then(|(_, user)| user.clone())
    }

    /// Returns true if a GET with only these attributes of the requester, sorted by name, returns the file.
    fn can_get(&self, path: &str, kept: &[String]) -> io::Result<bool> {
        if !self.partial.borrow().contains_key(kept) {
            let has = |name: &str| kept.iter().any(|kept| kept == name);
            let asker =
                self.asker.with_only(self.request, Part { headers: &has, address: has(ADDRESS), tls: has(TLS) })?;
            let mut partial = self.partial.borrow_mut();
            if partial.len() >= MAX_CACHED {
                partial.clear();
            }
            partial.insert(kept.to_owned(), asker);
        }
        let partial = self.partial.borrow();
        let Some(asker) = partial.get(kept) else { return Ok(false) };
        let probe = asker.get(path);
        // A user without credentials was authenticated on this connection earlier, and would not be on another one.
        let is_credential = |name: &String| name == TLS || CREDENTIALS.contains(&name.as_str());
        let is_bound = probe.user().is_some() && !kept.iter().any(is_credential);
        Ok(probe.verdict() == Verdict::Untouched && !is_bound)
    }
}

/// The part of an address that is compared: all of an IPv4 address, the /64 network of an IPv6 address, because hosts change
/// their addresses within it.
fn block_of(address: &str) -> Vec<u8> {
    match address.parse() {
        Ok(IpAddr::V4(address)) => address.octets().to_vec(),
        Ok(IpAddr::V6(address)) => match address.to_ipv4_mapped() {
            Some(address) => address.octets().to_vec(),
            None => address.octets()[..8].to_vec(),
        },
        Err(_) => address.as_bytes().to_vec(),
    }
}

/// A user of a realm, as one value.
fn identity(realm: &[u8], user: &[u8]) -> Vec<u8> {
    [realm, user].join(&0)
}
