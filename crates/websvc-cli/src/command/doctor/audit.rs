//! Checks of the sinks of audit events.

use anyhow::Result;
use websvc_store::DatabaseReport;
use websvc_types::counted;
use websvc_types::status::{AuditReadiness, AuditState};

use super::finding::Finding;
use crate::app;
use crate::config::Config;

pub(super) const CHECK: &str = "audit events";

/// Checks each sink. If there is none, checks that no team has audit events.
pub(super) async fn check(config: &Config, store: Option<&DatabaseReport>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let sinks = app::sinks(config)?;
    let teams = store.map_or(0, |store| store.audited_teams);
    if sinks.is_empty() && teams > 0 {
        let teams = counted(teams, "team", "teams");
        let message = format!("no sink is configured, but audit events are on for {teams}");
        findings.push(Finding::problem(CHECK, message).advice(
            "set `audit.file`, `audit.syslog` or `audit.webhook`, or turn audit events off with `websvc teams set NAME \
             --audit off`; `websvc teams list` shows the teams",
        ));
    }
    for mut sink in sinks {
        let check = format!("{CHECK}: {}", sink.name());
        findings.push(match sink.check().await {
            Ok(()) => Finding::ok(check, "events can be delivered"),
            Err(error) => Finding::problem(check, error.to_string()).advice(advice(sink.name())),
        });
    }
    Ok(findings)
}

fn advice(sink: &str) -> &'static str {
    match sink {
        "file" => "create the directory of `audit.file`, and let this user write to it",
        "syslog" => "check that the collector runs, `audit.syslog`, and the network",
        _ => {
            "check `audit.webhook`, that the receiver verifies signatures (`webhook-signature`) with \
             `audit.webhook_secret`, and that it returns a status of 200 to 299 for a batch"
        }
    }
}

/// Returns the problems of the sinks in the readiness of a running service.
pub(super) fn readiness_problems(sinks: &[AuditReadiness]) -> Option<String> {
    let failing = sinks.iter().filter(|sink| sink.state != AuditState::Ok || sink.lost > 0);
    let messages = failing.map(|sink| {
        let AuditReadiness { name, backlog, lost, reason, .. } = sink;
        let suffix = reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
        format!("{name}: {backlog} queued, {lost} lost{suffix}")
    });
    let messages: Vec<String> = messages.collect();
    (!messages.is_empty()).then(|| messages.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_problems_are_reported() {
        let sink = |state, lost| AuditReadiness {
            name: "syslog".to_owned(),
            state,
            backlog: 7,
            lost,
            reason: (state == AuditState::Failing).then(|| "connection refused".to_owned()),
        };
        assert_eq!(readiness_problems(&[sink(AuditState::Ok, 0)]), None);
        let failing = readiness_problems(&[sink(AuditState::Failing, 0), sink(AuditState::Ok, 3)]).unwrap();
        assert_eq!(failing, "syslog: 7 queued, 0 lost (connection refused); syslog: 7 queued, 3 lost");
    }
}
