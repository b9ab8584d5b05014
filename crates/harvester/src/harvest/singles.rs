//! Records that are got one by one, because a list could not deliver them.

use modoai_protocol::{ErrorCode, Verb};

use super::{Stop, Work};
use crate::ask::Question;
use crate::clock;
use crate::page::{Order, Purpose};
use crate::state::OpenWindow;
use crate::summary::Gap;
use crate::window::Window;

/// Records looked up at once.
const BATCH: usize = 500;

/// Records that are asked for in one go; the rest is left to the next run.
const MOST_ASKED: u32 = 20_000;

/// A record that was asked for so often in vain is named, but asked for only with `--verify`.
const MOST_TRIES: u32 = 5;

/// Failures in a row after which the rest is left to the next run.
const MOST_FAILURES: u32 = 20;

impl Work {
    /// Tries once to get every record that is noted as missing.
    pub(super) async fn get_missing(&mut self) -> Result<(), Stop> {
        let (mut after, mut failures, mut asked) = (String::new(), 0, 0);
        if self.state()?.missing_count()? == 0 {
            return Ok(());
        }
        let number = self.state()?.fresh_number()?;
        loop {
            let batch = self.state()?.missing(&after, BATCH)?;
            let Some(last) = batch.last() else { return Ok(()) };
            after.clone_from(&last.identifier);
            for missing in batch {
                // What came without an identifier cannot be asked for by it.
                if missing.nameless || missing.tries >= MOST_TRIES && !self.options.verify {
                    continue;
                }
                if asked == MOST_ASKED {
                    return Ok(());
                }
                asked += 1;
                match self.get_one(number, &missing.identifier).await? {
                    true => failures = 0,
                    false => failures += 1,
                }
                if failures == MOST_FAILURES {
                    return Ok(());
                }
            }
        }
    }

    /// Gets the records that were chosen by name, and nothing else. What cannot be had is missing from this run only.
    pub(super) async fn get_chosen(&mut self) -> Result<(), Stop> {
        let has_lists = !self.state()?.lists()?.is_empty();
        let number = if has_lists { self.state()?.fresh_number()? } else { 0 };
        for identifier in self.options.identifiers.clone() {
            if let Err((_, reason)) = self.try_one(number, &identifier).await? {
                self.gaps.push(Gap {
                    what: "record".to_owned(),
                    identifier: Some(identifier),
                    reason,
                    ..Gap::default()
                });
            }
        }
        Ok(())
    }

    /// Gets one record that is missing. Whether the server was able to answer.
    async fn get_one(&mut self, number: i64, identifier: &str) -> Result<bool, Stop> {
        match self.try_one(number, identifier).await? {
            Ok(()) => Ok(true),
            Err((answered, reason)) => {
                self.state()?.tried(identifier, &reason)?;
                Ok(answered)
            }
        }
    }

    /// Gets one record; or whether the server was able to answer, and what it said.
    async fn try_one(&mut self, number: i64, identifier: &str) -> Result<Result<(), (bool, String)>, Stop> {
        self.talk.gauge.say(format!("fetching {identifier}"));
        let question = Question::Record { identifier: identifier.to_owned(), prefix: self.prefix.clone() };
        let window = OpenWindow::new(number, Window::ALL, "");
        let order = Order {
            verb: Verb::GetRecord,
            origin: self.origin(),
            granularity: self.granularity(),
            list: None,
            // What is asked for by name is what it is now, and later than what any list said.
            pass: number,
            asked: clock::now(),
            window,
            purpose: Purpose::One,
        };
        Ok(Err(match self.talk.page(&mut self.desk, &order, &question).await {
            Ok(report) => match report.errors.first() {
                None => {
                    self.talk.effort.gain();
                    return Ok(Ok(()));
                }
                // It exists, and not in this format: there is nothing to be missed.
                Some((code, _)) if ErrorCode::from_name(code) == Some(ErrorCode::CannotDisseminateFormat) => {
                    self.state()?.found(identifier)?;
                    return Ok(Ok(()));
                }
                Some((code, message)) => (true, format!("{code}: {message}")),
            },
            Err(trouble) if trouble.calls_for_less() => (false, trouble.to_string()),
            Err(trouble) => return Err(self.stop(trouble)),
        }))
    }
}
