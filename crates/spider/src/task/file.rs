//! Creates a plan from a task file: detects the syntax, reads the included files, and checks the whole.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::draft::{Content, Draft, Include};
use super::error::{Note, TaskError, shown};
use super::owners::{OwnersFile, parse_owners};
use super::restrictions::{current, parse_avoid, parse_sites};
use super::{MailRoute, Owners, Plan, Scope, momspider, toml};

/// The maximum length of a task file. No task file that is written by hand or by a program should exceed it.
const LONGEST: u64 = 16 * 1024 * 1024;

impl Plan {
    /// Reads a task file, and the files that it includes. All paths in it are relative to it. The syntax is detected
    /// from the contents, never from the name.
    pub fn read(path: &Path) -> Result<Self, TaskError> {
        Self::read_with(path, Timestamp::now(), &mut read_file)
    }

    /// Reads a task file for a given time, which determines the expired entries, and with a given function to read
    /// files.
    pub fn read_with(
        path: &Path,
        now: Timestamp,
        open: &mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<Self, TaskError> {
        let mut reading = Reading { file: path, now, plan: Self::default(), open };
        let bytes = (reading.open)(path);
        let bytes = bytes.map_err(|source| TaskError::Read { file: path.to_owned(), named_in: None, source })?;
        let text = reading.decode(path, bytes);
        let parsed = if is_toml(&text) { toml::parse(&text) } else { momspider::parse(&text) };
        let draft = parsed.map_err(|note| wrong(path, note))?;
        reading.complete(draft)
    }
}

/// A plan in construction.
struct Reading<'a> {
    file: &'a Path,
    now: Timestamp,
    plan: Plan,
    open: &'a mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
}

impl Reading<'_> {
    fn complete(mut self, draft: Draft) -> Result<Plan, TaskError> {
        let Draft { plan, tasks, restrictions, includes, remarks } = draft;
        // Remarks about the bytes stay first.
        let remarked = std::mem::replace(&mut self.plan, plan).remarks;
        self.plan.remarks = remarked;
        if self.plan.tasks.is_empty() {
            return Err(TaskError::Empty { file: self.file.to_owned() });
        }
        self.remark(self.file, remarks);
        let (valid, expired) = current(self.file, restrictions, self.now);
        self.plan.restrictions = valid;
        self.remark(self.file, expired);
        for include in includes {
            self.include(&include)?;
        }
        self.settle_paths();
        self.settle_addresses(&tasks);
        self.check_tasks(&tasks)?;
        Owners::new(&self.plan).map_err(|source| TaskError::Owners { file: self.file.to_owned(), source })?;
        Ok(self.plan)
    }

    /// Reads a file that the task file includes.
    fn include(&mut self, include: &Include) -> Result<(), TaskError> {
        let file = self.beside(&include.path);
        let bytes = match (self.open)(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound && include.may_lack => {
                let what = format!("file {} not found; treating it as empty", file.display());
                self.remark(self.file, [Note::new(include.line, what)]);
                return Ok(());
            }
            Err(source) => {
                let named_in = Some((self.file.to_owned(), include.line));
                return Err(TaskError::Read { file, named_in, source });
            }
        };
        let text = self.decode(&file, bytes);
        match include.content {
            Content::Restrictions => {
                let (restrictions, remarks) = parse_avoid(&text).map_err(|note| wrong(&file, note))?;
                let (valid, expired) = current(&file, restrictions, self.now);
                self.plan.restrictions.extend(valid);
                self.remark(&file, remarks.into_iter().chain(expired));
            }
            Content::Sites => {
                let sites = parse_sites(&text).map_err(|note| wrong(&file, note))?;
                if let Some(site) = sites.iter().find(|site| site.until.is_none_or(|until| self.now < until)) {
                    let what =
                        format!("robots.txt of {}:{} is requested once a day anyway (RFC 9309)", site.host, site.port);
                    self.remark(&file, [Note::new(site.line, what)]);
                }
            }
            Content::Owners => {
                let OwnersFile { rules, people, remarks } = parse_owners(&text);
                self.plan.owners.extend(rules);
                for (owner, addresses) in people {
                    // Addresses from the task file, or from a previous file, are not extended.
                    if self.plan.addresses_of(&owner).is_empty() {
                        self.plan.people.push((owner, addresses));
                    }
                }
                self.remark(&file, remarks);
            }
        }
        Ok(())
    }

    /// Resolves paths relative to the task file, so that they do not depend on the working directory.
    fn settle_paths(&mut self) {
        let file = self.file;
        let settle = |path: &mut PathBuf| *path = beside(file, path);
        self.plan.tasks.iter_mut().filter_map(|task| task.index_file.as_mut()).for_each(settle);
        match &mut self.plan.mail {
            Some(MailRoute::Smtp { password_file: Some(path), .. }) => settle(path),
            // A program without a directory is searched in PATH.
            Some(MailRoute::Sendmail { program, .. }) if program.components().count() > 1 => settle(program),
            _ => {}
        }
    }

    /// Sets the address of Owner tasks whose owner has a known address.
    fn settle_addresses(&mut self, written: &[(usize, bool)]) {
        let mut nobody = Vec::new();
        let mut tasks = std::mem::take(&mut self.plan.tasks);
        for (task, (line, asks_to_tell)) in tasks.iter_mut().zip(written) {
            if task.scope == Scope::Owner && task.addresses.is_empty() {
                task.addresses = self.plan.addresses_of(&task.name).to_vec();
            }
            if *asks_to_tell && task.addresses.is_empty() {
                nobody.push(Note::new(*line, "mail is requested, but the address is missing"));
            }
        }
        self.plan.tasks = tasks;
        self.remark(self.file, nobody);
    }

    /// Refuses tasks that write the same index, or that have the same name, which reports could not distinguish.
    fn check_tasks(&mut self, written: &[(usize, bool)]) -> Result<(), TaskError> {
        let (mut names, mut indexes) = (HashMap::new(), HashMap::new());
        let mut twins = Vec::new();
        for (task, (line, _)) in self.plan.tasks.iter().zip(written) {
            if let Some(first) = names.insert(&task.name, line) {
                let what = format!(
                    "the task of line {first} is also called '{}'; reports cannot distinguish them",
                    shown(&task.name)
                );
                twins.push(Note::new(*line, what));
            }
            let Some(index) = &task.index_file else { continue };
            if let Some(first) = indexes.insert(index, line) {
                let what =
                    format!("the task of line {first} also writes its index to {}; use another file", index.display());
                return Err(wrong(self.file, Note::new(*line, what)));
            }
        }
        self.remark(self.file, twins);
        Ok(())
    }

    /// Decodes bytes as text. Files from 1994 are not UTF-8.
    fn decode(&mut self, file: &Path, bytes: Vec<u8>) -> String {
        match String::from_utf8(bytes) {
            Ok(text) => text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
            Err(error) => {
                let line =
                    1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
                self.remark(file, [Note::new(line, "invalid UTF-8; reading the file as Windows-1252")]);
                encoding_rs::WINDOWS_1252.decode_without_bom_handling(error.as_bytes()).0.into_owned()
            }
        }
    }

    fn beside(&self, path: &Path) -> PathBuf {
        beside(self.file, path)
    }

    fn remark(&mut self, file: &Path, notes: impl IntoIterator<Item = Note>) {
        let noted = notes.into_iter().map(|Note { line, what }| format!("{}:{line}: {what}", file.display()));
        self.plan.remarks.extend(noted);
    }
}

/// Resolves a path relative to a file.
fn beside(file: &Path, path: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(path)
}

fn wrong(file: &Path, Note { line, what }: Note) -> TaskError {
    TaskError::Wrong { file: file.to_owned(), line, what }
}

/// Returns true if a text is TOML, by its first significant line: a table in brackets, or a key and `=`. A MOMspider
/// file begins with a directive and a blank, or with `<`.
fn is_toml(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(first) = lines.next() else { return true };
    let is_key = |text: &str| !text.trim().is_empty() && !text.trim().contains([' ', '\t', '<']);
    first.starts_with(['[', '"', '\'']) || first.split_once('=').is_some_and(|(key, _)| is_key(key))
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if read as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is larger than 16 MB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_syntax_is_told_by_content() {
        for text in ["", "# x\n", "[mail]\n", "[[task]]", "\n# x\ncontact = 'a'\n", "'a b' = 1", "depth=3", "a.b = 1"] {
            assert!(is_toml(text), "{text:?}");
        }
        for text in ["<Site\n", "# x\n\nMaxDepth 3\n", "SystemAvoid /a=b\n", "<!DOCTYPE a=b>", "ReplyTo a@b"] {
            assert!(!is_toml(text), "{text:?}");
        }
    }
}
