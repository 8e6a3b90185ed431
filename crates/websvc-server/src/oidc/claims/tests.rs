//! Tests of the claims: times, audiences, and the mapping to teams and rights.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;

const NOW_MS: u64 = 1_700_000_000_500;
const NOW_S: u64 = NOW_MS / 1000;
const LEEWAY: Duration = Duration::from_secs(60);
const ISSUER: &str = "https://idp.test";

fn claims(changes: &Value) -> Map<String, Value> {
    let mut claims =
        json!({ "iss": ISSUER, "sub": "ada", "aud": "websvc", "exp": NOW_S + 300, "nonce": "n" });
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().shift_remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    serde_json::from_value(claims).unwrap()
}

#[track_caller]
fn check_for(purpose: Purpose<'_>, changes: &Value, expected: Result<(), &str>) {
    let checked = Claims::check(claims(changes), ISSUER, purpose, LEEWAY, NOW_MS);
    match (checked, expected) {
        (Ok(_), Ok(())) => {}
        (Err(TokenRefusal::Invalid(rule)), Err(expected)) => {
            assert!(rule.contains(expected), "{changes}: {rule}");
        }
        (other, _) => panic!("{changes}: {other:?}"),
    }
}

#[track_caller]
fn check(changes: &Value, expected: Result<(), &str>) {
    let audiences = ["api://websvc".to_owned(), "websvc".to_owned()];
    check_for(Purpose::Access { audiences: &audiences }, changes, expected);
}

#[test]
fn issuer_audience_and_subject_are_checked() {
    check(&json!({}), Ok(()));
    check(&json!({ "iss": null }), Err("iss is missing"));
    for other in ["https://idp.test/", "https://idp.test.evil.test", "HTTPS://idp.test", ""] {
        check(&json!({ "iss": other }), Err("is not accepted here"));
    }
    check(&json!({ "aud": ["other", "api://websvc"] }), Ok(()));
    for other in
        [json!(null), json!("other"), json!([]), json!(["websvc2"]), json!(1), json!({ "websvc": 1 })]
    {
        check(&json!({ "aud": other }), Err("audience is not this service"));
    }
    check(&json!({ "sub": null }), Err("sub is missing"));
    check(&json!({ "sub": "" }), Err("1 to 255 bytes"));
    check(&json!({ "sub": "x".repeat(256) }), Err("1 to 255 bytes"));
}

#[test]
fn times_are_checked_with_the_leeway() {
    check(&json!({ "exp": null }), Err("exp is missing"));
    check(&json!({ "exp": NOW_S - 60 }), Err("has expired"));
    check(&json!({ "exp": NOW_S - 59 }), Ok(()));
    check(&json!({ "exp": NOW_S as f64 + 0.5 }), Ok(()));
    check(&json!({ "nbf": NOW_S + 60 }), Ok(()));
    check(&json!({ "nbf": NOW_S + 61 }), Err("not valid yet"));
    check(&json!({ "iat": NOW_S + 61 }), Err("issued in the future"));
    for name in ["exp", "nbf", "iat"] {
        for value in [json!("2030-01-01"), json!(-1), json!(true), json!([NOW_S])] {
            check(&json!({ name: value }), Err("is not a time"));
        }
    }
}

#[test]
fn id_token_is_for_this_client_and_this_sign_in() {
    let check = |changes: Value, expected| {
        check_for(Purpose::SignIn { client_id: "websvc", nonce: "n" }, &changes, expected);
    };
    check(json!({}), Ok(()));
    check(json!({ "azp": "websvc", "aud": ["websvc", "other"] }), Ok(()));
    check(json!({ "aud": "other" }), Err("not this client"));
    check(json!({ "aud": ["websvc", "other"] }), Err("another client"));
    check(json!({ "azp": "other" }), Err("another client"));
    for nonce in [json!(null), json!("m"), json!(""), json!(1)] {
        check(json!({ "nonce": nonce }), Err("nonce"));
    }
}

fn rules(team: TeamSource) -> ClaimRules {
    let group =
        |scopes: &[KeyScope], admin| GrantedRights { scopes: scopes.iter().copied().collect(), admin };
    let groups = BTreeMap::from([
        ("ops".to_owned(), group(KeyScope::ALL, true)),
        ("readers".to_owned(), group(&[KeyScope::Scrape], false)),
    ]);
    ClaimRules {
        team,
        scopes_claim: Some("scope".to_owned()),
        groups_claim: Some("/realm_access/roles".to_owned()),
        rights: RightsTable { groups, defaults: [KeyScope::Map].into() },
    }
}

fn identity(team: TeamSource, changes: &Value) -> Result<Identity, TokenRefusal> {
    rules(team).identity(&Claims(claims(changes)), LEEWAY)
}

#[track_caller]
fn check_rights(changes: &Value, expected: &[KeyScope], admin: bool) {
    let identity = identity(TeamSource::Fixed("red".to_owned()), changes).unwrap();
    assert_eq!(identity.rights.scopes, Some(expected.iter().copied().collect()), "{changes}");
    assert_eq!(identity.rights.admin, admin, "{changes}");
}

#[test]
fn scopes_groups_and_defaults_add_up() {
    use KeyScope::{Map, Scrape, Search};
    check_rights(&json!({}), &[Map], false);
    check_rights(&json!({ "scope": "openid search email" }), &[Map, Search], false);
    check_rights(&json!({ "scope": ["search", "scrape", 1] }), &[Map, Search, Scrape], false);
    check_rights(&json!({ "scope": "admin all" }), &[Map], false);
    check_rights(&json!({ "realm_access": { "roles": ["readers", "others"] } }), &[Map, Scrape], false);
    check_rights(&json!({ "realm_access": { "roles": "ops" } }), KeyScope::ALL, true);
    check_rights(&json!({ "realm_access": ["ops"], "roles": ["ops"], "groups": ["ops"] }), &[Map], false);
}

#[test]
fn team_is_that_of_the_configuration_or_of_a_claim() {
    let fixed = identity(TeamSource::Fixed("red".to_owned()), &json!({ "team": "blue" })).unwrap();
    assert_eq!((fixed.team.as_str(), fixed.subject.as_str()), ("red", "ada"));
    let claim = |name: &str| TeamSource::Claim(name.to_owned());
    assert_eq!(identity(claim("team"), &json!({ "team": "blue" })).unwrap().team, "blue");
    let namespaced = json!({ "https://tea.test/team": "blue" });
    assert_eq!(identity(claim("https://tea.test/team"), &namespaced).unwrap().team, "blue");
    for value in [json!(null), json!(""), json!(["red", "blue"]), json!(1)] {
        let refusal = identity(claim("team"), &json!({ "team": value })).unwrap_err();
        assert!(
            matches!(&refusal, TokenRefusal::Forbidden(rule) if rule.contains("claim team")),
            "{refusal:?}"
        );
    }
}

#[test]
fn rights_end_with_the_token() {
    let expiry = |exp: Value| {
        let identity = identity(TeamSource::Fixed("red".to_owned()), &json!({ "exp": exp })).unwrap();
        identity.rights.expires_at_ms
    };
    assert_eq!(expiry(json!(NOW_S)), Some((NOW_S + 60) * 1000));
    assert_eq!(expiry(json!(1e300)), Some(u64::MAX));
}

#[test]
fn name_is_cleaned() {
    let name = |changes: &Value| Claims(claims(changes)).name();
    assert_eq!(name(&json!({ "email": "ada@tea.test", "preferred_username": "ada1" })), "ada@tea.test");
    assert_eq!(name(&json!({ "preferred_username": " \u{202e}Ada\n" })), "Ada");
    assert_eq!(name(&json!({ "email": "\u{200b}" })), "ada");
    assert_eq!(name(&json!({ "sub": "\u{7}" })), "user");
    assert_eq!(name(&json!({ "email": "x".repeat(500) })).len(), MAX_NAME_CHARS);
}
