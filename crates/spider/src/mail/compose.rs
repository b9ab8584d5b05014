//! Creates the messages from the gathered findings: one for each owner, with a section for each infostructure, as plain
//! text and as HTML.
//!
//! Addresses with exactly the same findings share one message. The bodies are templates (`templates/mail.{txt,html}`);
//! `view.rs` creates their content, and this module the headers.

use jiff::Timestamp;
use lettre::Message;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::Quiet;
use super::gather::{Addressee, Gathered, MOST, Section, Tally};
use super::item::KINDS;
use super::text::enumerated;
use super::view::{Bodies, title_of};
use crate::foreign::one_line;
use crate::report::words;
use crate::results::{Infostructure, ReportError, Results};

/// The maximum number of characters of findings in one message, regardless of the number of findings: URLs can be long,
/// and servers refuse large messages.
const MOST_TEXT: usize = 200_000;

/// The maximum number of addresses of one message; RFC 5321 requires every server to accept a hundred.
const MOST_ADDRESSES: usize = 50;

/// A message, ready to be sent.
#[derive(Debug)]
pub struct Letter {
    /// The message.
    pub message: Message,
    /// The addresses of its recipients.
    pub to: Vec<Mailbox>,
    /// The subject.
    pub subject: String,
    /// The Message-ID: the same if the same message has to be created again.
    pub id: String,
    /// The number of new findings in it.
    pub news: u64,
    /// The positions of its recipients among the addressees.
    pub(super) places: Vec<usize>,
    /// The ledger's keys of its findings, to be recorded once it is sent.
    pub(super) keys: Vec<u64>,
}

/// Creates the messages. Addressees without findings to report are recorded as such.
pub(super) fn compose(
    results: &dyn Results,
    gathered: &mut Gathered,
    sender: &Mailbox,
    now: Timestamp,
) -> Result<Vec<Letter>, ReportError> {
    let bodies = Bodies::new()?;
    let mut groups: Vec<(Vec<Section>, Vec<usize>)> = Vec::new();
    for (place, addressee) in gathered.addressees.iter_mut().enumerate() {
        let (mut sections, silent): (Vec<_>, Vec<_>) =
            std::mem::take(&mut addressee.sections).into_iter().partition(|section| !section.listed.is_empty());
        if sections.is_empty() {
            let address = addressee.address.clone();
            if !gathered.quiet.iter().any(|quiet| quiet.address == address) {
                gathered.quiet.push(Quiet { address, why: why_quiet(&silent) });
            }
            continue;
        }
        fit(&mut sections);
        match groups.iter_mut().find(|(same, _)| *same == sections) {
            Some((_, places)) => places.push(place),
            None => groups.push((sections, vec![place])),
        }
    }
    let mut letters = Vec::with_capacity(groups.len());
    for (sections, places) in &groups {
        for places in places.chunks(MOST_ADDRESSES) {
            letters.push(letter(results, sections, places, &gathered.addressees, &bodies, sender, now)?);
        }
    }
    Ok(letters)
}

fn why_quiet(silent: &[Section]) -> String {
    match silent.iter().flat_map(|section| section.tally).map(|[_, reported]| reported).sum() {
        0 => "no findings".to_owned(),
        reported => {
            format!("nothing new ({} reported before)", words::counted(reported, ("finding was", "findings were")))
        }
    }
}

/// Divides the space of a message among its sections, so that a large one cannot displace the others.
fn fit(sections: &mut [Section]) {
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|place| sections[*place].listed.len());
    let (mut room, mut text) = (MOST, MOST_TEXT);
    for (done, place) in order.iter().enumerate() {
        let rest = sections.len() - done;
        let section = &mut sections[*place];
        let (most, most_text) = (room.div_ceil(rest), text / rest);
        let mut used = 0;
        let fits = section.listed.iter().take(most).take_while(|item| {
            let pages: usize = item.places.iter().map(|place| place.page.len()).sum();
            used += item.url.len() + item.to.as_ref().map_or(0, String::len) + pages;
            used <= most_text
        });
        // At least one is listed, since the message would otherwise contain nothing.
        let keep = fits.count().max(1);
        for item in section.listed.drain(keep.min(section.listed.len())..) {
            section.beyond.items += 1;
            section.beyond.keys.extend(item.keys);
        }
        room = room.saturating_sub(keep);
        text = text.saturating_sub(used);
    }
}

fn letter(
    results: &dyn Results,
    sections: &[Section],
    places: &[usize],
    addressees: &[Addressee],
    bodies: &Bodies,
    sender: &Mailbox,
    now: Timestamp,
) -> Result<Letter, ReportError> {
    let infostructures = results.infostructures();
    let subject = subject(sections, infostructures);
    let to: Vec<_> = places.iter().map(|place| addressees[*place].mailbox.clone()).collect();
    let (text, html) = bodies.write(results, sections, &subject, sender)?;

    let mut keys: Vec<u64> = Vec::new();
    for section in sections {
        keys.extend(section.listed.iter().flat_map(|item| &item.keys));
        // Findings that are only counted are shown in the index. Without an index, they are left for the next message.
        if infostructures[section.of].task.index_url.is_some() {
            keys.extend(&section.beyond.keys);
        }
    }

    let domain = domain(sender);
    let run = results.run();
    let mut hash = Xxh3::new();
    hash.update(format!("{} {}", run.number, run.began).as_bytes());
    places.iter().for_each(|place| hash.update(format!(" {}", addressees[*place].address).as_bytes()));
    keys.iter().for_each(|key| hash.update(&key.to_le_bytes()));
    let id = format!("<modoai.{}.{:032x}@{domain}>", run.number, hash.digest128());
    // No message with these identifiers exists; mail readers still use them to group the messages.
    let mut roots: Vec<_> =
        sections.iter().map(|section| root(&infostructures[section.of].task.name, &domain)).collect();
    roots.dedup();
    roots.truncate(10);

    let mut message = Message::builder()
        .from(sender.clone())
        .date(now.into())
        .subject(&subject)
        .message_id(Some(id.clone()))
        .in_reply_to(roots[0].clone())
        .references(roots.join(" "))
        // RFC 3834: automatic replies, such as vacation notices, are not sent to this message.
        .raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned()));
    for mailbox in &to {
        message = message.to(mailbox.clone());
    }
    let message = message
        .multipart(
            MultiPart::alternative()
                .singlepart(SinglePart::builder().header(ContentType::TEXT_PLAIN).body(text))
                .singlepart(SinglePart::builder().header(ContentType::TEXT_HTML).body(html)),
        )
        .map_err(|error| ReportError::Render { what: format!("the message {subject:?}"), source: Box::new(error) })?;
    let news = sections.iter().map(Section::news).sum();
    Ok(Letter { message, to, subject, id, news, places: places.to_vec(), keys })
}

/// Returns the subject: the counts of findings, and the infostructure.
fn subject(sections: &[Section], infostructures: &[Infostructure]) -> String {
    let mut tally = Tally::default();
    for section in sections {
        for (sum, found) in tally.iter_mut().zip(section.tally) {
            sum[0] += found[0];
            sum[1] += found[1];
        }
    }
    let is_news = sections.iter().any(|section| section.news() > 0);
    let counts = counted(&tally, usize::from(!is_news), if is_news { "new " } else { "" });
    let mut titles: Vec<_> =
        sections.iter().map(|section| format!("'{}'", one_line(title_of(&infostructures[section.of]), 60))).collect();
    titles.dedup();
    if titles.len() > 2 {
        let others = words::counted(titles.len() as u64 - 1, ("other", "others"));
        titles.truncate(1);
        titles.push(others);
    }
    let none_new = if is_news { "" } else { ", none of them new" };
    format!("{} in {}{none_new}", enumerated(&counts), enumerated(&titles))
}

/// Returns counts in words, of new findings (0) or those reported before (1). `first` is inserted into the first count.
pub(super) fn counted(tally: &Tally, which: usize, mut first: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (kind, numbers) in KINDS.into_iter().zip(tally) {
        let Some(wording) = words::wording(kind).filter(|_| numbers[which] > 0) else { continue };
        let (one, many) = wording.counted;
        words.push(words::counted(numbers[which], (&format!("{first}{one}"), &format!("{first}{many}"))));
        first = "";
    }
    words
}

/// Returns the Message-ID that all messages about one infostructure refer to.
fn root(task: &str, domain: &str) -> String {
    format!("<modoai.web.{:016x}@{domain}>", xxh3_64(task.as_bytes()))
}

/// Returns the sender's domain in the form that identifiers require.
fn domain(sender: &Mailbox) -> String {
    url::Host::parse(sender.email.domain()).map_or_else(|_| "modoai.invalid".to_owned(), |host| host.to_string())
}
