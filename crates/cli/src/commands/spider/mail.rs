//! Sends mail to owners, according to the tasks.

use std::path::{Path, PathBuf};

use modoai_spider::mail::route::{self, Dry, Means, PASSWORD_VARIABLE, Route};
use modoai_spider::mail::{self, Delivery, SqliteLedger};
use modoai_spider::survey::Survey;
use modoai_spider::task::{MailRoute, Plan, Syntax};

use super::ending::Failures;
use super::{SpiderCommand, report_failed};
use crate::error::CliError;

/// The default for MOMspider instruction files, as in 1994. TOML task files must configure a route.
const SENDMAIL: &str = "/usr/sbin/sendmail";

impl SpiderCommand {
    /// Writes to all owners in the tasks that have findings. Addresses to which mail could not be sent are reported as
    /// failures.
    pub(super) fn write_to_owners(
        &self,
        survey: &Survey,
        plan: &Plan,
        quiet: bool,
        failures: &mut Failures,
    ) -> Result<(), CliError> {
        let is_anybody_told = plan.tasks.iter().any(|task| !task.addresses.is_empty()) || !plan.people.is_empty();
        if self.no_mail || !is_anybody_told {
            return Ok(());
        }
        let Some(mut route) = self.route(plan)? else { return Ok(()) };
        let mut ledger = SqliteLedger::open(survey.table().connection())
            .map_err(|error| CliError::failed("failed to read the mail history").because(error))?;
        let now = jiff::Timestamp::now();
        let delivery = mail::deliver(survey, &plan.people, &mut *route, &mut ledger, now).map_err(report_failed)?;
        report_delivery(delivery, quiet, failures);
        Ok(())
    }

    /// Returns the route of messages. If none is available, a warning is logged.
    fn route(&self, plan: &Plan) -> Result<Option<Box<dyn Route>>, CliError> {
        let failed = |error| CliError::failed("failed to send mail").because(error);
        let own = || MailRoute::Sendmail { program: PathBuf::from(SENDMAIL), from: sender(plan) };
        if let Some(folder) = &self.mail_dry_run {
            let sender = route::sender_of(&plan.mail.clone().unwrap_or_else(own)).map_err(failed)?;
            return Ok(Some(Box::new(Dry::new(folder, sender))));
        }
        let route = match (&plan.mail, plan.syntax) {
            (Some(route), _) => route.clone(),
            (None, Syntax::Momspider) if Path::new(SENDMAIL).exists() => own(),
            (None, Syntax::Momspider) => {
                tracing::warn!("no mail sent: {SENDMAIL} not found");
                return Ok(None);
            }
            (None, Syntax::Toml) => {
                tracing::warn!("no mail sent: the task file has no [mail] section");
                return Ok(None);
            }
        };
        let means = Means {
            password: std::env::var(PASSWORD_VARIABLE).ok(),
            authority: self.remote.ca.clone(),
            ..Means::default()
        };
        route::open(&route, means).map(Some).map_err(failed)
    }
}

/// Returns the sender of messages if the tasks contain none: the contact address that servers receive, or the first
/// recipient.
fn sender(plan: &Plan) -> String {
    let first = || plan.tasks.iter().flat_map(|task| &task.addresses).next().cloned();
    plan.contact.clone().or_else(first).unwrap_or_else(|| "modoai@localhost".to_owned())
}

fn report_delivery(delivery: Delivery, quiet: bool, failures: &mut Failures) {
    for failed in delivery.failed {
        failures.note(Err(CliError::failed(format!("failed to send mail to {}: {}", failed.address, failed.what))));
    }
    if !quiet {
        for written in &delivery.written {
            tracing::info!("sent mail to {}: {}", written.addresses.join(", "), written.subject);
        }
    }
}
