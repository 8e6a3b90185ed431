//! Tests of the keys of sessions, and of callers whom a token identifies.

use websvc_store::{KeyRights, KeyScope, MAX_SIGN_IN_KEYS, ProvenIdentity, Store, TeamChange};

use crate::fresh;

const HOUR_MS: u64 = 3_600_000;

fn with_team() -> (tempfile::TempDir, Store) {
    let (dir, store) = fresh();
    store.set_team("red", &TeamChange::default()).unwrap();
    (dir, store)
}

fn create(store: &Store, valid_ms: u64) -> String {
    let rights = KeyRights { admin: true, ..KeyRights::default() };
    let key = store.create_sign_in_key("red", "ada (OIDC)", &rights, valid_ms).unwrap().unwrap();
    key.secret.expose().to_owned()
}

#[test]
fn key_of_a_session_is_valid_until_it_is_deleted() {
    let (_dir, store) = with_team();
    let (first, second) = (create(&store, HOUR_MS), create(&store, HOUR_MS));
    let caller = store.authenticate(&first).unwrap().unwrap();
    assert!(caller.team.name == "red" && caller.rights.admin && caller.rights.expires_at_ms.is_some());
    assert!(store.delete_sign_in_key(&first).unwrap());
    assert!(!store.delete_sign_in_key(&first).unwrap(), "it is deleted once");
    assert_eq!(store.authenticate(&first).unwrap(), None);
    assert!(store.authenticate(&second).unwrap().is_some());
    let ordinary = store.create_key("red", "").unwrap();
    assert!(!store.delete_sign_in_key(ordinary.secret.expose()).unwrap(), "other keys are not deleted");
    assert!(store.authenticate(ordinary.secret.expose()).unwrap().is_some());
}

#[test]
fn claims_create_no_team() {
    let (_dir, store) = with_team();
    let created = store.create_sign_in_key("blue", "", &KeyRights::default(), HOUR_MS).unwrap();
    assert!(created.is_none());
    assert!(store.team("blue").unwrap().is_none());
    store.create_sign_in_key("b\u{7}lue", "", &KeyRights::default(), HOUR_MS).unwrap_err();
}

#[test]
fn expired_keys_are_deleted_and_the_number_is_bounded() {
    let (_dir, store) = with_team();
    let expired = create(&store, 0);
    assert_eq!(store.authenticate(&expired).unwrap(), None);
    let first = create(&store, HOUR_MS);
    assert_eq!(store.list_keys().unwrap().len(), 1, "the expired one is gone");
    for _ in 0..MAX_SIGN_IN_KEYS {
        create(&store, 2 * HOUR_MS);
    }
    assert_eq!(store.list_keys().unwrap().len() as u64, MAX_SIGN_IN_KEYS);
    assert_eq!(store.authenticate(&first).unwrap(), None, "the one that expires first made room");
}

#[test]
fn identity_has_the_id_of_its_subject_and_the_rights_of_its_token() {
    let (_dir, store) = with_team();
    let rights = KeyRights { scopes: Some([KeyScope::Search].into()), ..KeyRights::default() };
    let identity = |issuer: &str, subject: &str, team: &str| ProvenIdentity {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
        team: team.to_owned(),
        rights: rights.clone(),
    };
    let find = |identity| store.authenticate_identity(&identity).unwrap();
    let ada = find(identity("https://idp.test", "ada", "red")).unwrap();
    // printf 'https://idp.test\nada' | sha256sum | cut -c1-12
    assert_eq!(ada.key_id.as_str(), "oidc-257d85cf0397");
    assert_eq!((ada.team.name.as_str(), &*ada.rights), ("red", &rights));
    let other = find(identity("https://idp.test", "bob", "red")).unwrap();
    let elsewhere = find(identity("https://other.test", "ada", "red")).unwrap();
    assert!(ada.key_id != other.key_id && ada.key_id != elsewhere.key_id);
    assert_eq!(find(identity("https://idp.test", "ada", "blue")), None, "a team that does not exist");
    store.delete_team("red").unwrap();
    assert_eq!(find(identity("https://idp.test", "ada", "red")), None, "a team that was deleted");
}
