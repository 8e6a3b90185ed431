//! Tests of invitations: what is stored, who gets a key, and that it is one.

use std::collections::BTreeSet;
use std::sync::Barrier;

use websvc_store::{KeyRights, KeyScope, MAX_INVITATION_MS, NewKey, Store, StoreError};

use crate::engine::Rows;
use crate::{fresh, open};

const HOUR_MS: u64 = 3_600_000;

fn invite(store: &Store, rights: &KeyRights) -> NewKey {
    store.create_invitation("red", "notebook", rights, store.now_ms() + HOUR_MS).unwrap()
}

#[test]
fn invitation_is_no_key_and_gives_one_with_its_rights_once() {
    let (dir, store) = fresh();
    let rights = KeyRights {
        scopes: Some(BTreeSet::from([KeyScope::Search])),
        formats: Some(BTreeSet::from(["markdown".to_owned()])),
        networks: vec!["192.0.2.0/24".to_owned()],
        expires_at_ms: Some(store.now_ms() + 2 * HOUR_MS),
        requests_per_minute: Some(7),
        concurrency: Some(2),
        ..KeyRights::default()
    };
    let invitation = invite(&store, &rights);
    let text = invitation.secret.expose();
    assert!(text.starts_with("fi-") && text.len() == 35, "{text}");
    assert_eq!(store.authenticate(text).unwrap(), None);
    let (secret, record) = store.redeem_invitation(text).unwrap().unwrap();
    assert_eq!((record.team.as_str(), record.label.as_str()), ("red", "notebook"));
    let caller = store.authenticate(secret.expose()).unwrap().unwrap();
    assert_eq!((&caller.key_id, &caller.team.name, &*caller.rights), (&record.id, &record.team, &rights));
    assert_eq!(store.redeem_invitation(text).unwrap().map(|(_, record)| record), None);
    assert_eq!(store.authenticate(text).unwrap(), None);
    assert_eq!(store.list_keys().unwrap(), [record], "the invitation has become the key");
    drop(store);
    let store = open(dir.path());
    assert!(store.authenticate(secret.expose()).unwrap().is_some(), "after a restart");
    assert!(store.redeem_invitation(text).unwrap().is_none(), "after a restart");
}

#[test]
fn only_the_hash_is_stored_and_the_whole_hash_is_compared() {
    let (dir, store) = fresh();
    let invitation = invite(&store, &KeyRights::default());
    let rows = Rows::open(dir.path());
    let stored = rows.query("SELECT id, team, label, scopes, formats, networks FROM keys");
    assert!(!format!("{stored:?}").contains(&invitation.secret.expose()[3..]), "{stored:?}");
    let hex = if crate::engine::is_server() { "encode(hash, 'hex')" } else { "lower(hex(hash))" };
    assert!(rows.text(&format!("SELECT {hex} FROM keys")).starts_with(invitation.id.as_str()));
    // Another invitation with the same id, which is a prefix of the hash.
    let changed = if crate::engine::is_server() {
        "UPDATE keys SET hash = set_byte(hash, 31, get_byte(hash, 31) # 1)"
    } else {
        "UPDATE keys SET hash = CAST(substr(hash, 1, 31) || iif(substr(hash, 32) = x'00', x'01', x'00') AS BLOB)"
    };
    rows.execute(changed);
    assert!(store.redeem_invitation(invitation.secret.expose()).unwrap().is_none());
}

#[test]
fn revoked_expired_and_wrong_invitations_give_no_key() {
    let (dir, store) = fresh();
    let revoked = invite(&store, &KeyRights::default());
    store.revoke_key(revoked.id.as_str()).unwrap();
    let of_deleted_team =
        store.create_invitation("blue", "", &KeyRights::default(), store.now_ms() + HOUR_MS).unwrap();
    assert!(store.delete_team("blue").unwrap());
    let of_expired_key = invite(&store, &KeyRights { expires_at_ms: Some(1), ..KeyRights::default() });
    let expired = invite(&store, &KeyRights::default());
    let sql = format!("UPDATE keys SET redeem_until = {} WHERE id = '{}'", store.now_ms(), expired.id);
    Rows::open(dir.path()).execute(&sql);
    let valid = invite(&store, &KeyRights::default());
    let key = store.create_key("red", "").unwrap();
    let text = valid.secret.expose();
    for wrong in [
        revoked.secret.expose(),
        of_deleted_team.secret.expose(),
        of_expired_key.secret.expose(),
        expired.secret.expose(),
        key.secret.expose(),
        valid.id.as_str(),
        "",
        &text[..34],
        &text.to_uppercase(),
        &text.repeat(10_000),
    ] {
        assert!(store.redeem_invitation(wrong).unwrap().is_none(), "{wrong:.60}");
    }
    assert!(store.redeem_invitation(text).unwrap().is_some());
    assert!(store.authenticate(key.secret.expose()).unwrap().is_some(), "a key is not redeemed");
}

#[test]
fn one_of_many_attempts_at_the_same_time_gets_the_key() {
    let (dir, store) = fresh();
    let stores = [store.clone(), open(dir.path()), open(dir.path()), store.clone()];
    for round in 0..5 {
        let invitation = invite(&store, &KeyRights::default());
        let barrier = Barrier::new(stores.len());
        let redeemed: Vec<_> = std::thread::scope(|scope| {
            let attempts = stores.each_ref().map(|store| {
                scope.spawn(|| {
                    barrier.wait();
                    store.redeem_invitation(invitation.secret.expose()).unwrap()
                })
            });
            attempts.into_iter().filter_map(|attempt| attempt.join().unwrap()).collect()
        });
        assert_eq!(redeemed.len(), 1, "round {round}");
        assert!(store.authenticate(redeemed[0].0.expose()).unwrap().is_some());
    }
}

#[test]
fn invitation_gives_no_administration_and_is_valid_for_at_most_90_days() {
    let (_dir, store) = fresh();
    let admin = KeyRights { admin: true, ..KeyRights::default() };
    let now_ms = store.now_ms();
    for (rights, until_ms, rule) in [
        (&admin, now_ms + HOUR_MS, "administer"),
        (&KeyRights::default(), now_ms, "not in the future"),
        (&KeyRights::default(), now_ms + MAX_INVITATION_MS + HOUR_MS, "90 days"),
    ] {
        let error = store.create_invitation("red", "", rights, until_ms).unwrap_err();
        assert!(
            matches!(&error, StoreError::InvalidInvitation { rule: broken } if broken.contains(rule)),
            "{error}"
        );
    }
    assert_eq!(store.list_keys().unwrap(), []);
}
