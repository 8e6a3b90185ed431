//! Tests of private pages of teams: scope, access, deletion.

use websvc_store::{
    CacheLimits, CachedPage, IndexPolicy, PageKey, PageOwner, PageScope, PutOutcome, Store, TeamChange,
};

use crate::engine::{Rows, is_server};
use crate::{fresh, page};

const URL: &str = "http://a.test/x";

fn set(store: &Store, team: &str, policy: IndexPolicy) -> PageScope {
    store.set_team(team, &TeamChange { index: Some(policy), ..TeamChange::default() }).unwrap();
    store.page_scope(team).unwrap()
}

fn owner(store: &Store, team: &str) -> PageOwner {
    set(store, team, IndexPolicy::Team).owner().unwrap()
}

fn copy(owner: Option<PageOwner>, text: &str) -> CachedPage {
    let shared = page(URL, 1, text.to_owned());
    CachedPage { key: shared.key.clone().owned_by(owner), ..shared }
}

fn put(store: &Store, page: &CachedPage) -> PutOutcome {
    store.put_page(page, &CacheLimits::default()).unwrap()
}

#[test]
fn scope_follows_the_setting_of_the_team() {
    let (_dir, store) = fresh();
    assert_eq!(store.page_scope("default").unwrap(), PageScope::Shared, "the team need not exist");
    assert_eq!(store.page_scope("gone").unwrap(), PageScope::Off, "a deleted team");
    assert_eq!(set(&store, "red", IndexPolicy::Shared), PageScope::Shared);
    let red = set(&store, "red", IndexPolicy::Team);
    assert!(matches!(red, PageScope::Team(_)), "{red:?}");
    assert_eq!(set(&store, "red", IndexPolicy::Off), PageScope::Off);
    assert_eq!(set(&store, "red", IndexPolicy::Shared), PageScope::Shared);
    assert_eq!(set(&store, "red", IndexPolicy::Team), red, "the team has the same owner again");
    assert_ne!(set(&store, "blue", IndexPolicy::Team), red);
    assert_eq!(store.page_owners().unwrap().len(), 2);
}

#[test]
fn scope_set_by_another_process_is_seen() {
    let (dir, store) = fresh();
    set(&store, "red", IndexPolicy::Shared);
    let other = crate::open(dir.path());
    let owner = owner(&other, "red");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while store.page_scope("red").unwrap() != PageScope::Team(owner) {
        assert!(std::time::Instant::now() < deadline, "the change is not seen");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn private_and_shared_copies_do_not_replace_each_other() {
    let (dir, store) = fresh();
    let (red, blue) = (owner(&store, "red"), owner(&store, "blue"));
    let copies = [copy(Some(red), "red"), copy(None, "shared"), copy(Some(blue), "blue")];
    for copy in &copies {
        assert_eq!(put(&store, copy), PutOutcome::Stored { evicted: 0 });
    }
    for copy in &copies {
        assert_eq!(store.page(&copy.key).unwrap().as_ref(), Some(copy));
        // A server is not asked by calls that must not wait.
        let expected = (!is_server()).then_some(1);
        assert_eq!(store.try_page_fetched_at(&copy.key).unwrap(), expected);
    }
    assert_eq!(copies[0].key.shared().as_ref(), Some(&copies[1].key));
    drop(store);
    let store = crate::open(dir.path());
    assert_eq!(store.page(&copies[0].key).unwrap().as_ref(), Some(&copies[0]), "after a restart");
    if !is_server() {
        assert_eq!(Store::inspect(dir.path()).unwrap().unwrap().owned_pages, 2);
    }
    assert_eq!(store.purge_url(URL).unwrap(), 3, "a purge deletes all copies");
}

#[test]
fn variant_that_looks_like_an_owner_reads_no_private_copy() {
    let (_dir, store) = fresh();
    let red = owner(&store, "red");
    put(&store, &copy(Some(red), "red"));
    let disguised = PageKey::new(URL, format!("{}\u{1f}", red.number()));
    assert_eq!(store.page(&disguised).unwrap(), None);
    assert_eq!(store.try_page_fetched_at(&disguised).unwrap(), None);
}

#[test]
fn pages_of_a_deleted_team_are_deleted_and_its_owner_number_is_not_reused() {
    let (dir, store) = fresh();
    let (red, blue) = (owner(&store, "red"), owner(&store, "blue"));
    for copy in [copy(Some(red), "red"), copy(Some(blue), "blue"), copy(None, "shared")] {
        put(&store, &copy);
    }
    assert!(store.delete_team("red").unwrap());
    assert_eq!(store.cache_size().unwrap().pages, 2);
    assert_eq!(store.page(&copy(Some(red), "").key).unwrap(), None);
    // A page whose fetch was in flight.
    assert_eq!(put(&store, &copy(Some(red), "late")), PutOutcome::Outdated);
    assert_eq!(store.page_scope("red").unwrap(), PageScope::Off);
    assert_ne!(owner(&store, "red"), red, "a new team with the old name");
    assert!(store.delete_team("blue").unwrap());
    assert!(owner(&store, "green") > blue, "not even the last number is reused");
    // A process that is killed during a deletion leaves pages without a team.
    let orphan = "INSERT INTO pages (url, variant, host, final_url, status, headers, fetched_at, truncated, size, \
         body_length, body_encoding, body, owner) SELECT url, '9' || variant, host, final_url, status, headers, \
         fetched_at, truncated, size, body_length, body_encoding, body, 9 FROM pages WHERE owner = 0";
    Rows::open(dir.path()).execute(orphan);
    assert_eq!(store.purge_ownerless().unwrap(), 1);
    assert_eq!(store.purge_ownerless().unwrap(), 0);
    assert_eq!(store.cache_size().unwrap().pages, 1, "the shared copy");
}
