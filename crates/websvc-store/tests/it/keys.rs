//! Tests of keys: creation, authentication, listing, revocation, last use, secrecy.

use std::fs;
use std::path::Path;

use websvc_store::{KeyRights, StaticKeys, StoreError, TeamChange};

use crate::engine::{Rows, is_server};
use crate::{fresh, fresh_file, static_key};

#[test]
fn new_key_authenticates_as_its_team() {
    let (_dir, store) = fresh();
    let key = store.create_key("blue", "ci").unwrap();
    let caller = store.authenticate(key.secret.expose()).unwrap().unwrap();
    assert_eq!(caller.team.name, "blue");
    assert_eq!(caller.key_id, key.id);
}

#[test]
fn other_secrets_do_not_authenticate() {
    let (_dir, store) = fresh();
    let key = store.create_key("blue", "").unwrap();
    let secret = key.secret.expose();
    let last_digit_changed = format!("{}{}", &secret[..34], if secret.ends_with('0') { '1' } else { '0' });
    let too_long = "x".repeat(100_000);
    for wrong in [
        "",
        "fc-",
        &secret[3..],
        &secret[..34],
        &secret.to_uppercase(),
        &format!("{secret} "),
        &last_digit_changed,
        key.id.as_str(),
        &too_long,
    ] {
        assert_eq!(store.authenticate(wrong).unwrap(), None, "{wrong:.60}");
    }
    assert!(store.authenticate(secret).unwrap().is_some());
}

#[test]
fn whole_hash_is_compared_not_only_the_id() {
    let (dir, store) = fresh();
    let key = store.create_key("blue", "").unwrap();
    // Two secrets whose hashes have the same prefix cannot be found, so the stored hash is changed after the prefix.
    let changed = if is_server() {
        "UPDATE keys SET hash = set_byte(hash, 31, get_byte(hash, 31) # 1)"
    } else {
        "UPDATE keys SET hash = CAST(substr(hash, 1, 31) || iif(substr(hash, 32) = x'00', x'01', x'00') AS BLOB)"
    };
    Rows::open(dir.path()).execute(changed);
    assert_eq!(store.authenticate(key.secret.expose()).unwrap(), None);
}

#[test]
fn revoked_key_is_rejected_at_once_and_after_a_restart() {
    let (dir, store) = fresh();
    let key = store.create_key("default", "").unwrap();
    let other = store.create_key("default", "").unwrap();
    assert!(store.authenticate(key.secret.expose()).unwrap().is_some());
    let record = store.revoke_key(key.id.as_str()).unwrap();
    assert!(record.revoked_at_ms.is_some());
    assert_eq!(store.authenticate(key.secret.expose()).unwrap(), None);
    drop(store);
    let store = crate::open(dir.path());
    assert_eq!(store.authenticate(key.secret.expose()).unwrap(), None);
    assert!(store.authenticate(other.secret.expose()).unwrap().is_some());
}

#[test]
fn revoke_distinguishes_unknown_and_revoked_keys() {
    let (_dir, store) = fresh();
    let key = store.create_key("default", "").unwrap();
    let first = store.revoke_key(key.id.as_str()).unwrap();
    match store.revoke_key(key.id.as_str()).unwrap_err() {
        StoreError::AlreadyRevoked { id, revoked_at_ms } => {
            assert_eq!(id, key.id.as_str());
            assert_eq!(Some(revoked_at_ms), first.revoked_at_ms);
        }
        error => panic!("{error}"),
    }
    let error = store.revoke_key("0123456789ab").unwrap_err();
    assert!(matches!(&error, StoreError::UnknownKey { id } if id == "0123456789ab"), "{error}");
    assert_eq!(error.to_string(), "there is no key with the id \"0123456789ab\"");
}

#[test]
fn key_list_contains_no_secrets() {
    let (_dir, store) = fresh();
    let blue = store.create_key("blue", "laptop").unwrap();
    let amber = store.create_key("amber", "").unwrap();
    store.revoke_key(blue.id.as_str()).unwrap();
    let keys = store.list_keys().unwrap();
    let shown: Vec<_> =
        keys.iter().map(|key| (key.id.clone(), key.team.as_str(), key.label.as_str())).collect();
    assert_eq!(shown, [(amber.id.clone(), "amber", ""), (blue.id.clone(), "blue", "laptop")]);
    assert_eq!(keys.iter().map(|key| key.revoked_at_ms.is_some()).collect::<Vec<_>>(), [false, true]);
    let printed = format!("{keys:?}");
    assert!(!printed.contains(&blue.secret.expose()[3..]) && !printed.contains(&amber.secret.expose()[3..]));
}

#[test]
fn only_the_first_start_creates_a_default_key() {
    let (dir, store) = fresh();
    let key = store.ensure_default_key(&KeyRights::default()).unwrap().unwrap();
    assert_eq!(store.authenticate(key.secret.expose()).unwrap().unwrap().team.name, "default");
    assert!(store.ensure_default_key(&KeyRights::default()).unwrap().is_none());
    store.revoke_key(key.id.as_str()).unwrap();
    drop(store);
    let store = crate::open(dir.path());
    assert!(
        store.ensure_default_key(&KeyRights::default()).unwrap().is_none(),
        "no new key after all keys were revoked"
    );
}

#[test]
fn static_key_belongs_to_the_default_team_and_follows_its_changes() {
    let (_dir, store) = fresh();
    store.use_static_keys(static_key("fc-from-the-environment")).unwrap();
    let before = store.authenticate("fc-from-the-environment").unwrap().unwrap();
    assert_eq!((before.key_id.as_str(), before.team.name.as_str()), ("static", "default"));
    assert!(!before.team.audit);
    store.set_team("default", &TeamChange { audit: Some(true), ..TeamChange::default() }).unwrap();
    assert!(store.authenticate("fc-from-the-environment").unwrap().unwrap().team.audit);
    assert_eq!(store.list_keys().unwrap(), []);
}

#[test]
fn unusable_static_key_is_rejected() {
    for bad in
        ["", "two words", "line\n", "schlüssel", "seven77", "change-me", "fc-YOUR-API-KEY", &"ab".repeat(129)]
    {
        let error = StaticKeys::default().set_key(bad).unwrap_err();
        assert!(matches!(error, StoreError::InvalidStaticKey { .. }), "{error}");
        assert!(bad.is_empty() || !error.to_string().contains(bad), "the message contains the secret");
    }
}

#[test]
fn static_admin_key_has_admin_rights_and_a_longer_minimum_length() {
    let (_dir, store) = fresh();
    let mut keys = static_key("fc-from-the-environment");
    keys.set_admin_key("fc-administers-here").unwrap();
    store.use_static_keys(keys).unwrap();
    let admin = |secret: &str| {
        let caller = store.authenticate(secret).unwrap().unwrap();
        (caller.key_id.as_str().to_owned(), caller.rights.admin)
    };
    assert_eq!(admin("fc-from-the-environment"), ("static".to_owned(), false));
    assert_eq!(admin("fc-administers-here"), ("static-admin".to_owned(), true));
    for (bad, rule) in [
        ("", "it is empty"),
        ("short", "it is shorter than 16 bytes"),
        ("fifteen-letters", "it is shorter than 16 bytes"),
        ("fc-YOUR-API-KEY", "it is a placeholder from an example"),
        ("fc-from-the-environment", "it equals another configured key"),
    ] {
        let error = static_key("fc-from-the-environment").set_admin_key(bad).unwrap_err();
        assert_eq!(error.to_string(), format!("the configured API key is not valid: {rule}"), "{bad}");
    }
    assert!(!store.authenticate("fc-from-the-environment").unwrap().unwrap().rights.admin);
}

#[test]
fn invalid_team_names_and_labels_are_rejected() {
    let (_dir, store) = fresh();
    for (team, label) in [("", ""), ("a\nb", ""), (" a", ""), (&*"x".repeat(129), ""), ("a", "tab\there")] {
        let error = store.create_key(team, label).unwrap_err();
        assert!(matches!(error, StoreError::InvalidName { .. }), "{error}");
    }
    assert!(store.create_key(&"ü".repeat(128), "Büro <b>").is_ok(), "characters count, not bytes");
}

#[test]
fn last_use_is_written_by_a_later_flush() {
    let (dir, store) = fresh();
    let key = store.create_key("default", "").unwrap();
    let unused = store.create_key("zz", "").unwrap();
    let before = store.now_ms();
    store.authenticate(key.secret.expose()).unwrap().unwrap();
    assert_eq!(store.list_keys().unwrap()[0].last_used_at_ms, None, "authentication writes nothing");
    // Dropping the cache (here by a revocation) must not lose the use.
    store.revoke_key(unused.id.as_str()).unwrap();
    store.flush_key_uses().unwrap();
    let used = store.list_keys().unwrap()[0].last_used_at_ms.unwrap();
    // The clock of a server is known to some milliseconds.
    assert!(used + 50 >= before && used <= store.now_ms() + 50, "{before} {used}");
    assert_eq!(store.list_keys().unwrap()[1].last_used_at_ms, None);

    let late = store.create_key("late", "").unwrap();
    store.authenticate(late.secret.expose()).unwrap().unwrap();
    drop(store);
    let store = crate::open(dir.path());
    let late = store.list_keys().unwrap().into_iter().find(|key| key.id == late.id).unwrap();
    assert!(late.last_used_at_ms.is_some(), "dropping the store flushes");
}

#[test]
fn key_use_does_not_invalidate_the_cache_of_other_processes() {
    let (dir, store) = fresh();
    let key = store.create_key("default", "").unwrap();
    let version = || Rows::open(dir.path()).number("SELECT version FROM access_version");
    let before = version();
    store.authenticate(key.secret.expose()).unwrap().unwrap();
    store.flush_key_uses().unwrap();
    assert!(store.list_keys().unwrap()[0].last_used_at_ms.is_some());
    assert_eq!(version(), before);
    store.revoke_key(key.id.as_str()).unwrap();
    assert_ne!(version(), before);
}

#[test]
fn secrets_are_not_written_to_files() {
    // Both engines store the same values. Here they can be searched for in the file.
    let (dir, store) = fresh_file();
    let key = store.create_key("default", "label-to-be-found").unwrap();
    let first = store.create_key("second-team", "").unwrap();
    store.use_static_keys(static_key("static-secret-of-the-test")).unwrap();
    for secret in [key.secret.expose(), first.secret.expose(), "static-secret-of-the-test"] {
        store.authenticate(secret).unwrap().unwrap();
    }
    store.flush_key_uses().unwrap();
    let digits = |text: &str| text.as_bytes()[3..].to_vec();
    let raw = |text: &str| {
        (3..35).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect::<Vec<_>>()
    };
    let absent = [
        digits(key.secret.expose()),
        raw(key.secret.expose()),
        digits(first.secret.expose()),
        raw(first.secret.expose()),
        b"static-secret-of-the-test".to_vec(),
    ];
    let check = |when: &str| {
        assert!(is_in_file(dir.path(), b"label-to-be-found"), "{when}: the search does not work");
        for secret in &absent {
            assert!(!is_in_file(dir.path(), secret), "{when}: a secret is on disk");
        }
    };
    check("open");
    drop(store);
    check("closed");
}

fn is_in_file(dir: &Path, needle: &[u8]) -> bool {
    fs::read_dir(dir).unwrap().any(|entry| {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(needle.len()).any(|window| window == needle)
    })
}
