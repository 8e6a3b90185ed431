//! Operations on the settings of a team.

use serde_json::{Value, json};

use super::example::{Example, example};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;
use crate::limits::RISK_SCORE_DEFAULT;

/// Adds the operations.
pub(super) fn add(paths: &mut Value) {
    paths["/v2/team/threat-protection"] =
        json!({ "get": threat_protection().to_value(), "put": set_threat_protection().to_value() });
    paths["/v2/team/siem"] = json!({ "get": siem().to_value(), "put": set_siem().to_value() });
}

fn threat_protection() -> Operation {
    Operation {
        id: "teamThreatProtection",
        tag: "team",
        summary: "Get the threat protection of the team",
        description: "Needs an admin key of the team.",
        body: None,
        response: ("TeamThreatResponse", threat_responses()),
        failures: &[KEYED, &[Failure::Forbidden]],
    }
}

fn set_threat_protection() -> Operation {
    let request = json!({ "mode": "normal", "enforced": true, "blacklist": ["*.evil.example"] });
    Operation {
        id: "setTeamThreatProtection",
        tag: "team",
        summary: "Replace the threat protection of the team",
        description: "Needs an admin key of the team. Absent fields get their defaults. The change applies within a second.",
        body: Some(("TeamThreatRequest", vec![example("enforced", "Checks of all URLs", request)])),
        response: ("TeamThreatResponse", threat_responses()),
        failures: &[KEYED, WITH_BODY, &[Failure::InvalidBody, Failure::Forbidden]],
    }
}

fn siem() -> Operation {
    Operation {
        id: "teamSiem",
        tag: "team",
        summary: "Get whether requests of the team write audit events",
        description: "Needs an admin key of the team.",
        body: None,
        response: ("SiemResponse", siem_responses()),
        failures: &[KEYED, &[Failure::Forbidden]],
    }
}

fn set_siem() -> Operation {
    Operation {
        id: "setTeamSiem",
        tag: "team",
        summary: "Turn the audit events of the team on or off",
        description: "Needs an admin key of the team. The operator configures where events go. The change applies within a \
            second.",
        body: Some(("SiemRequest", vec![example("on", "Turn events on", json!({ "enabled": true }))])),
        response: ("SiemResponse", siem_responses()),
        failures: &[KEYED, WITH_BODY, &[Failure::InvalidBody, Failure::Forbidden]],
    }
}

fn threat_responses() -> Vec<Example> {
    let value = json!({ "success": true, "data": {
        "mode": "normal",
        "enforced": true,
        "allowRequestOverrides": true,
        "riskScoreThreshold": RISK_SCORE_DEFAULT,
        "blacklist": ["*.evil.example"],
        "whitelist": [],
        "blockedTlds": [],
        "failurePolicy": null,
    } });
    vec![example("enforced", "Checks of all URLs", value)]
}

fn siem_responses() -> Vec<Example> {
    let data = json!({ "configured": true, "enabled": true, "receivers": ["syslog"] });
    vec![example("on", "Events go to a syslog collector", json!({ "success": true, "data": data }))]
}
