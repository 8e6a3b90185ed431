//! Check of the mail server.

use std::time::{Duration, Instant};

use websvc_notify::MailError;

use super::finding::Finding;
use crate::app;
use crate::config::Config;
use crate::output;

const CHECK: &str = "mail server";

const TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to the mail server, starts TLS and authenticates, if there is one. Sends no email.
pub(super) async fn check(config: &Config) -> Option<Finding> {
    let settings = match app::mail_settings(config) {
        Ok(settings) => settings?,
        Err(error) => {
            let advice = "correct the named value; `serve` does not start";
            return Some(Finding::problem(CHECK, output::causes(error.as_ref()), advice));
        }
    };
    let started = Instant::now();
    Some(match tokio::time::timeout(TIMEOUT, settings.mailer.probe()).await {
        Ok(Ok(())) => {
            let ready = if config.mail.user.is_some() {
                "accepts the user name and the password"
            } else {
                "responds"
            };
            Finding::ok(CHECK, format!("{ready}, in {} ms", started.elapsed().as_millis()))
        }
        Ok(Err(error)) => failed(&error),
        Err(_) => Finding::problem(
            CHECK,
            format!("no response within {} s", TIMEOUT.as_secs()),
            "check `mail.host`, `mail.port` and `mail.tls`, and that a firewall allows this connection",
        ),
    })
}

fn failed(error: &MailError) -> Finding {
    let advice = match error {
        MailError::Dns { .. } | MailError::Connect { .. } | MailError::Timeout { .. } => {
            "check `mail.host` and `mail.port`, that the server runs, and that a firewall allows this connection"
        }
        MailError::Tls { .. } | MailError::Connection { .. } => {
            "check `mail.tls`, which must fit `mail.port`, and `mail.ca_file` if the server has a private certificate"
        }
        MailError::Authentication { .. } => "check `mail.user` and `mail.password`",
        MailError::NoMechanism { .. } => {
            "remove `mail.user` and `mail.password` if the server needs none, or check `mail.port`"
        }
        MailError::Sender { .. } | MailError::Recipient { .. } | MailError::Refused { .. } => {
            "check that the server accepts connections from this machine"
        }
    };
    Finding::problem(CHECK, output::causes(error), advice)
}
