//! Check of the delivery of audit events.

use websvc_server::audit::{Sink, SinkError};
use websvc_store::DatabaseReport;
use websvc_types::status::{AuditReadiness, AuditState};

use super::finding::Finding;
use crate::app;
use crate::config::Config;
use crate::output;

const CHECK: &str = "audit events";

/// Looks at each sink, and without one at the teams that want events.
pub(super) async fn check(config: &Config, store: Option<&DatabaseReport>) -> Vec<Finding> {
    let sinks = match app::sinks(config) {
        Ok(sinks) => sinks,
        Err(error) => {
            let advice = "correct what is named; `serve` does not start";
            return vec![Finding::problem(CHECK, output::causes(error.as_ref()), advice)];
        }
    };
    if sinks.is_empty() {
        return unheard(store.map_or(0, |store| store.audited_teams)).into_iter().collect();
    }
    let mut findings = Vec::new();
    for mut sink in sinks {
        let checked = sink.check().await;
        findings.push(of_sink(&sink, &checked));
    }
    findings
}

/// Tells of teams whose events go nowhere.
fn unheard(teams: u64) -> Option<Finding> {
    (teams > 0).then(|| {
        Finding::problem(
            CHECK,
            format!("there is no place for those of the teams that want them ({teams})"),
            "give `audit.file`, `audit.syslog` or `audit.webhook`, or turn them off with `websvc teams set NAME --audit \
             off`; `websvc teams list` shows who wants them",
        )
    })
}

fn of_sink(sink: &Sink, checked: &Result<(), SinkError>) -> Finding {
    let check = format!("{CHECK}: {}", sink.name());
    match checked {
        Ok(()) => Finding::ok(check, "they can be delivered"),
        Err(error) => Finding::problem(check, error.to_string(), advice(sink.name())),
    }
}

fn advice(sink: &str) -> &'static str {
    match sink {
        "file" => "make the directory of `audit.file`, and let this user write to it",
        "syslog" => "check that the collector runs, `audit.syslog`, and the way to it",
        _ => {
            "check `audit.webhook`, that it checks signatures (`webhook-signature`, by `audit.webhook_secret`), and that it \
             answers a batch with a status of 200 to 299"
        }
    }
}

/// Says what a running service tells of its sinks, when that is not good.
pub(super) fn of_readiness(sinks: &[AuditReadiness]) -> Option<String> {
    let bad = sinks.iter().filter(|sink| sink.state != AuditState::Ok || sink.lost > 0);
    let told = bad.map(|sink| {
        let AuditReadiness { name, backlog, lost, reason, .. } = sink;
        let why = reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
        format!("{name}: {backlog} wait, {lost} are lost{why}")
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_running_service_tells_is_repeated_when_it_is_bad() {
        let sink = |state, lost| AuditReadiness {
            name: "syslog".to_owned(),
            state,
            backlog: 7,
            lost,
            reason: (state == AuditState::Failing).then(|| "it is gone".to_owned()),
        };
        assert_eq!(of_readiness(&[sink(AuditState::Ok, 0)]), None);
        let failing = of_readiness(&[sink(AuditState::Failing, 0), sink(AuditState::Ok, 3)]).unwrap();
        assert_eq!(failing, "syslog: 7 wait, 0 are lost (it is gone); syslog: 7 wait, 3 are lost");
    }
}
