//! Tests of OAuth in the store: hashes only, one exchange at a time, and the bounds of clients and grants.

use std::sync::Barrier;

use websvc_store::{GrantProof, GrantRefusal, KeyRights, KeyScope, MAX_OAUTH_CLIENTS, NewGrant, Store};

use crate::engine::Rows;
use crate::{fresh, open};

const ADDRESS: &str = "https://client.test/cb";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const PROOF: GrantProof<'_> = GrantProof::Code { redirect_uri: ADDRESS, challenge: CHALLENGE };

fn register(store: &Store) -> String {
    store.register_oauth_client("Tea", &[ADDRESS.to_owned()]).unwrap().unwrap().id
}

fn authorize(store: &Store, client: &str) -> String {
    let rights = KeyRights { scopes: Some([KeyScope::Search].into()), ..KeyRights::default() };
    let grant =
        NewGrant { client, redirect_uri: ADDRESS, challenge: CHALLENGE, team: "red", label: "Tea", rights };
    store.authorize_oauth_client(&grant).unwrap().unwrap().expose().to_owned()
}

#[test]
fn only_hashes_of_codes_and_tokens_are_stored() {
    let (dir, store) = fresh();
    let client = register(&store);
    let code = authorize(&store, &client);
    let tokens = store.exchange_oauth_token(&code, &client, PROOF).unwrap().unwrap();
    let stored =
        Rows::open(dir.path()).query("SELECT family, client, key, challenge, redirect_uri FROM oauth_grants");
    let stored = format!("{stored:?}");
    for secret in
        [&code[3..35], &code[35..], &tokens.refresh_token.expose()[35..], &tokens.access_token.expose()[3..]]
    {
        assert!(!stored.contains(secret), "{stored}");
    }
    let caller = store.authenticate(tokens.access_token.expose()).unwrap().unwrap();
    assert_eq!((&caller.key_id, caller.team.name.as_str()), (&tokens.key.id, "red"));
    assert!(caller.rights.allows_scope(KeyScope::Search) && !caller.rights.allows_scope(KeyScope::Map));
    assert!(stored.contains(tokens.key.id.as_str()), "the grant follows the id of its key: {stored}");
}

#[test]
fn one_of_many_exchanges_at_the_same_time_succeeds_and_the_others_revoke_the_grant() {
    let (dir, store) = fresh();
    let client = register(&store);
    let stores = [store.clone(), open(dir.path()), open(dir.path())];
    for round in 0..5 {
        let code = authorize(&store, &client);
        let barrier = Barrier::new(stores.len());
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let attempts = stores.each_ref().map(|store| {
                scope.spawn(|| {
                    barrier.wait();
                    store.exchange_oauth_token(&code, &client, PROOF).unwrap()
                })
            });
            attempts.into_iter().map(|attempt| attempt.join().unwrap()).collect()
        });
        let granted: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect();
        assert_eq!(granted.len(), 1, "round {round}: {outcomes:?}");
        let refresh = granted[0].refresh_token.expose();
        let refused = store.exchange_oauth_token(refresh, &client, GrantProof::RefreshToken).unwrap();
        assert_eq!(refused.unwrap_err(), GrantRefusal::Invalid, "the grant was revoked");
    }
}

#[test]
fn expired_and_revoked_grants_give_no_tokens_and_are_deleted() {
    let (dir, store) = fresh();
    let client = register(&store);
    let rows = Rows::open(dir.path());
    let expired = authorize(&store, &client);
    rows.execute("UPDATE oauth_grants SET valid_until = 1");
    assert!(store.exchange_oauth_token(&expired, &client, PROOF).unwrap().is_err());
    let code = authorize(&store, &client);
    assert_eq!(rows.number("SELECT count(*) FROM oauth_grants"), 1, "the expired one is deleted");
    assert_eq!(rows.number("SELECT count(*) FROM keys"), 1, "with its key");
    let tokens = store.exchange_oauth_token(&code, &client, PROOF).unwrap().unwrap();
    store.revoke_key(tokens.key.id.as_str()).unwrap();
    let refresh = tokens.refresh_token.expose();
    let refused = store.exchange_oauth_token(refresh, &client, GrantProof::RefreshToken).unwrap();
    assert_eq!(refused.unwrap_err(), GrantRefusal::Invalid, "to revoke the key ends the grant");
    authorize(&store, &client);
    assert!(store.delete_team("red").unwrap());
    assert_eq!(rows.number("SELECT count(*) FROM oauth_grants"), 0, "a team takes its grants with it");
}

#[test]
fn oldest_client_without_a_grant_makes_room_for_another_one() {
    let (dir, store) = fresh();
    let rows = Rows::open(dir.path());
    let kept = register(&store);
    authorize(&store, &kept);
    for number in 1..MAX_OAUTH_CLIENTS {
        let insert = "INSERT INTO oauth_clients (id, name, redirect_uris, created_at) VALUES";
        rows.execute(&format!("{insert} ('c{number}', 'x', '[]', {})", 1_000 + number));
    }
    rows.execute(&format!("UPDATE oauth_clients SET created_at = 1 WHERE id = '{kept}'"));
    let new = register(&store);
    assert_eq!(rows.number("SELECT count(*) FROM oauth_clients"), MAX_OAUTH_CLIENTS);
    assert!(store.oauth_client("c1").unwrap().is_none() && store.oauth_client("c2").unwrap().is_some());
    assert_eq!(store.oauth_client(&new).unwrap().unwrap().redirect_uris, [ADDRESS]);
    assert!(store.oauth_client(&kept).unwrap().is_some(), "a client with a grant stays");
}
