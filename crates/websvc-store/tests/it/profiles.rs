//! Tests of browser profiles: saving, reading, leases, limits.

use std::time::Duration;

use websvc_store::{
    LockProfileOutcome, PROFILE_MAX_BYTES, PROFILES_MAX, ProfileLease, ProfileState, SaveProfileOutcome,
    Store,
};

use crate::{fresh, noise};

const MINUTE: Duration = Duration::from_secs(60);

fn lease(store: &Store, team: &str, name: &str, now_ms: u64) -> ProfileLease {
    match store.lock_profile(team, name, now_ms, MINUTE).unwrap() {
        LockProfileOutcome::Leased(lease) => lease,
        other => panic!("{other:?}"),
    }
}

fn read(store: &Store, team: &str, name: &str) -> Option<Vec<u8>> {
    store.profile(team, name).unwrap().map(|profile| profile.state)
}

#[test]
fn saved_state_is_read_unchanged() {
    let (dir, store) = fresh();
    assert_eq!(store.profile("default", "shop").unwrap(), None);
    let lease = lease(&store, "default", "shop", 1000);
    assert_eq!(store.profile("default", "shop").unwrap(), None, "nothing was saved yet");
    for state in [b"{\"cookies\":[]}".to_vec(), Vec::new(), noise(1, 100_000).to_vec(), vec![b'x'; 1_000_000]]
    {
        assert_eq!(store.save_profile(&lease, &state, 1500).unwrap(), SaveProfileOutcome::Saved);
        let expected = ProfileState { state, saved_at_ms: 1500 };
        assert_eq!(store.profile("default", "shop").unwrap(), Some(expected.clone()));
        assert_eq!(crate::open(dir.path()).profile("default", "shop").unwrap(), Some(expected));
    }
}

#[test]
fn profiles_are_separate_by_team_and_name() {
    let (_dir, store) = fresh();
    for (team, name) in [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x/../y"), ("a", "X")] {
        let lease = lease(&store, team, name, 0);
        store.save_profile(&lease, format!("{team} {name}").as_bytes(), 0).unwrap();
        store.release_profile(&lease).unwrap();
    }
    assert_eq!(read(&store, "a", "x").unwrap(), b"a x");
    assert_eq!(read(&store, "b", "x").unwrap(), b"b x");
    assert_eq!(read(&store, "b", "y"), None);
    assert!(store.delete_profile("a", "x").unwrap());
    assert!(!store.delete_profile("a", "x").unwrap());
    assert_eq!(read(&store, "b", "x").unwrap(), b"b x");
}

#[test]
fn profile_has_one_writer_and_many_readers() {
    let (dir, store) = fresh();
    let first = lease(&store, "default", "shop", 1000);
    store.save_profile(&first, b"first", 1000).unwrap();
    let other = crate::open(dir.path());
    let busy = LockProfileOutcome::Busy { until_ms: 61_000 };
    assert_eq!(other.lock_profile("default", "shop", 60_999, MINUTE).unwrap(), busy);
    assert_eq!(read(&other, "default", "shop").unwrap(), b"first");
    store.release_profile(&first).unwrap();
    let second = lease(&other, "default", "shop", 1001);
    assert_eq!(store.save_profile(&first, b"late", 1002).unwrap(), SaveProfileOutcome::LeaseLost);
    other.save_profile(&second, b"second", 1003).unwrap();
    assert_eq!(read(&store, "default", "shop").unwrap(), b"second");
}

#[test]
fn lease_expires_unless_it_is_renewed() {
    let (_dir, store) = fresh();
    let first = lease(&store, "default", "shop", 0);
    assert!(store.renew_profile(&first, 30_000, MINUTE).unwrap());
    let busy = LockProfileOutcome::Busy { until_ms: 90_000 };
    assert_eq!(store.lock_profile("default", "shop", 60_000, MINUTE).unwrap(), busy);
    let second = lease(&store, "default", "shop", 90_000);
    assert!(!store.renew_profile(&first, 90_001, MINUTE).unwrap());
    // Releasing a lost lease changes nothing.
    store.release_profile(&first).unwrap();
    assert!(store.renew_profile(&second, 90_002, MINUTE).unwrap());
}

#[test]
fn deleted_profile_cannot_be_saved_with_its_old_lease() {
    let (_dir, store) = fresh();
    let lease = lease(&store, "default", "shop", 0);
    store.save_profile(&lease, b"state", 0).unwrap();
    assert!(store.delete_profile("default", "shop").unwrap());
    assert_eq!(store.save_profile(&lease, b"again", 1).unwrap(), SaveProfileOutcome::LeaseLost);
    assert_eq!(read(&store, "default", "shop"), None);
}

#[test]
fn state_above_the_maximum_size_is_rejected() {
    let (_dir, store) = fresh();
    let lease = lease(&store, "default", "shop", 0);
    store.save_profile(&lease, b"state", 0).unwrap();
    let bytes = PROFILE_MAX_BYTES + 1;
    let large = vec![0; bytes as usize];
    assert_eq!(store.save_profile(&lease, &large, 1).unwrap(), SaveProfileOutcome::TooLarge { bytes });
    assert_eq!(read(&store, "default", "shop").unwrap(), b"state");
}

#[test]
fn team_has_a_maximum_of_profiles_and_expired_unsaved_ones_do_not_count() {
    let (_dir, store) = fresh();
    for n in 0..PROFILES_MAX {
        lease(&store, "default", &n.to_string(), 0);
    }
    let locked = |name: &str, now_ms| store.lock_profile("default", name, now_ms, MINUTE).unwrap();
    assert_eq!(locked("one more", 0), LockProfileOutcome::TooMany);
    assert!(matches!(store.lock_profile("others", "x", 0, MINUTE).unwrap(), LockProfileOutcome::Leased(_)));
    assert!(matches!(locked("one more", 60_000), LockProfileOutcome::Leased(_)));
    assert_eq!(store.list_profiles(Some("default")).unwrap().len(), 1);
}

#[test]
fn profile_list_contains_leases_sizes_and_times() {
    let (_dir, store) = fresh();
    for (team, name) in [("b", "x"), ("a", "y"), ("a", "x")] {
        let lease = lease(&store, team, name, 0);
        store.save_profile(&lease, b"12345", 7).unwrap();
        if name == "x" {
            store.release_profile(&lease).unwrap();
        }
    }
    let shown = |team: Option<&str>| -> Vec<String> {
        let rows = store.list_profiles(team).unwrap().into_iter();
        rows.map(|row| {
            assert_eq!((row.bytes, row.saved_at_ms), (5, Some(7)));
            format!("{} {} {:?}", row.team, row.name, row.leased_until_ms)
        })
        .collect()
    };
    assert_eq!(shown(None), ["a x None", "a y Some(60000)", "b x None"]);
    assert_eq!(shown(Some("b")), ["b x None"]);
}
