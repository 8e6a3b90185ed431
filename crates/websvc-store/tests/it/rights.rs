//! Tests of the rights of keys, their expiry, and their changes in other processes.

use websvc_store::{KeyRights, KeyScope, Store, StoreError, TeamChange};

use crate::{fresh, static_key};

fn limited(store: &Store) -> KeyRights {
    KeyRights {
        admin: true,
        scopes: Some([KeyScope::Search, KeyScope::Scrape].into()),
        formats: Some(["links".to_owned(), "markdown".to_owned()].into()),
        networks: vec!["10.0.0.0/8".to_owned(), "::1".to_owned()],
        expires_at_ms: Some(store.now_ms() + 3_600_000),
        requests_per_minute: Some(5),
        concurrency: Some(2),
    }
}

#[test]
fn rights_are_stored_and_returned_with_the_caller() {
    let (_dir, store) = fresh();
    for rights in [KeyRights::default(), limited(&store)] {
        let key = store.create_key_with("red", "", &rights).unwrap();
        let listed = store.list_keys().unwrap().into_iter().find(|listed| listed.id == key.id).unwrap();
        assert_eq!(listed.rights, rights);
        let caller = store.authenticate(key.secret.expose()).unwrap().unwrap();
        assert_eq!(*caller.rights, rights);
    }
}

#[test]
fn empty_scopes_and_formats_allow_nothing() {
    let (_dir, store) = fresh();
    let rights = KeyRights { scopes: Some([].into()), formats: Some([].into()), ..KeyRights::default() };
    let key = store.create_key_with("red", "", &rights).unwrap();
    let caller = store.authenticate(key.secret.expose()).unwrap().unwrap();
    assert!(!caller.rights.allows_scope(KeyScope::Search) && !caller.rights.allows_format("markdown"));
}

#[test]
fn expired_key_does_not_authenticate() {
    let (_dir, store) = fresh();
    let create = |expires_at_ms| {
        let rights = KeyRights { expires_at_ms: Some(expires_at_ms), ..KeyRights::default() };
        store.create_key_with("red", "", &rights).unwrap().secret
    };
    let (past, future) = (create(store.now_ms() - 1), create(store.now_ms() + 3_600_000));
    for _again in 0..2 {
        assert!(store.authenticate(past.expose()).unwrap().is_none());
        assert!(store.authenticate(future.expose()).unwrap().is_some());
    }
}

#[test]
fn cached_key_expires() {
    let (_dir, store) = fresh();
    let expires_at_ms = store.now_ms() + 200;
    let rights = KeyRights { expires_at_ms: Some(expires_at_ms), ..KeyRights::default() };
    let secret = store.create_key_with("red", "", &rights).unwrap().secret;
    loop {
        let before = store.now_ms();
        let valid = store.authenticate(secret.expose()).unwrap().is_some();
        if !valid {
            assert!(store.now_ms() >= expires_at_ms, "it was rejected too early");
            return;
        }
        // The clock of a server is known to some milliseconds.
        assert!(before < expires_at_ms + 50, "it was accepted too late");
        std::thread::yield_now();
    }
}

#[test]
fn invalid_format_and_network_names_are_rejected() {
    let (_dir, store) = fresh();
    for bad in ["", "a,b", "a b", "a\n"] {
        let formats = KeyRights { formats: Some([bad.to_owned()].into()), ..KeyRights::default() };
        let networks = KeyRights { networks: vec![bad.to_owned()], ..KeyRights::default() };
        for rights in [formats, networks] {
            let error = store.create_key_with("red", "", &rights).unwrap_err();
            assert!(matches!(error, StoreError::InvalidName { .. }), "{bad:?}: {error}");
        }
    }
    assert!(store.list_keys().unwrap().is_empty());
}

#[test]
fn deleted_team_loses_its_keys_and_settings() {
    let (_dir, store) = fresh();
    let (red, blue) = (store.create_key("red", "").unwrap(), store.create_key("blue", "").unwrap());
    store.set_team("red", &TeamChange { concurrency: Some(Some(1)), ..TeamChange::default() }).unwrap();
    assert!(store.authenticate(red.secret.expose()).unwrap().is_some());
    assert!(store.delete_team("red").unwrap());
    assert!(!store.delete_team("red").unwrap());
    assert!(store.authenticate(red.secret.expose()).unwrap().is_none());
    assert!(store.authenticate(blue.secret.expose()).unwrap().is_some());
    assert!(store.team("red").unwrap().is_none());
    let again = store.create_key("red", "").unwrap();
    assert_eq!(store.authenticate(again.secret.expose()).unwrap().unwrap().team.concurrency, None);
}

#[test]
fn default_team_cannot_be_deleted() {
    let (_dir, store) = fresh();
    store.use_static_keys(static_key("fc-from-the-environment")).unwrap();
    assert!(matches!(store.delete_team("default"), Err(StoreError::TeamNeeded { .. })));
    assert!(store.authenticate("fc-from-the-environment").unwrap().is_some());
}
