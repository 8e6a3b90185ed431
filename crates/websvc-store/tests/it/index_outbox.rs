//! Tests of the outbox of pages for indexes on servers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use websvc_store::{Durability, OutboxClaim, OutboxPage, OutboxSize, Store};

use crate::engine::{Rows, fresh, is_server, open};

const ALL: usize = 1_000_000;

/// Longer than a process has pages that it has taken.
const LATER_MS: u64 = 10_000_000;

fn page(id: &str, version: u64) -> OutboxPage {
    let record = format!("{{\"title\": \"{id} {version}\"}}");
    OutboxPage { id: id.to_owned(), url: format!("http://{id}.test/"), version, record }
}

fn put(store: &Store, pages: &[OutboxPage], now_ms: u64) {
    store.put_in_outbox("es", pages, Durability::Process, now_ms).unwrap();
}

fn claim(store: &Store, max_pages: usize, now_ms: u64) -> OutboxClaim {
    store.claim_from_outbox("es", max_pages, ALL, now_ms).unwrap()
}

/// Returns the IDs and versions of the pages of a claim in order.
fn names(claim: &OutboxClaim) -> Vec<String> {
    let mut names: Vec<String> =
        claim.pages.iter().map(|page| format!("{} {}", page.id, page.version)).collect();
    names.sort_unstable();
    names
}

fn pages(store: &Store) -> u64 {
    store.outbox_size("es").unwrap().pages
}

#[test]
fn page_waits_until_its_claim_is_settled() {
    let (dir, store) = fresh();
    put(&store, &[page("a", 1), page("b", 1)], 10);
    store.put_in_outbox("other", &[page("a", 1)], Durability::Power, 20).unwrap();
    let bytes = 2 * page("a", 1).record.len() as u64;
    assert_eq!(store.outbox_size("es").unwrap(), OutboxSize { pages: 2, bytes, oldest_ms: Some(10) });
    // A process that ends without settling its claim loses nothing.
    let mut taken = claim(&store, ALL, 30).pages;
    taken.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(taken, [page("a", 1), page("b", 1)]);
    drop(store);
    let store = open(dir.path());
    assert_eq!(pages(&store), 2);
    let again = claim(&store, ALL, LATER_MS);
    assert_eq!(names(&again), ["a 1", "b 1"]);
    store.settle_outbox_claim(&again, &[], 0).unwrap();
    assert_eq!(store.outbox_size("es").unwrap(), OutboxSize::default());
    assert_eq!(store.outbox_size("other").unwrap().pages, 1);
}

#[test]
fn newest_version_of_a_page_waits_since_the_first() {
    let (_dir, store) = fresh();
    put(&store, &[page("a", 5)], 10);
    put(&store, &[page("a", 7)], 20);
    put(&store, &[page("a", 6)], 30);
    assert_eq!(store.outbox_size("es").unwrap().oldest_ms, Some(10));
    assert_eq!(claim(&store, ALL, 40).pages, [page("a", 7)]);
}

#[test]
fn page_that_is_replaced_while_it_is_written_is_written_again() {
    let (_dir, store) = fresh();
    put(&store, &[page("a", 1), page("b", 1)], 10);
    let first = claim(&store, ALL, 20);
    put(&store, &[page("a", 2)], 30);
    store.settle_outbox_claim(&first, &[], 0).unwrap();
    let second = claim(&store, ALL, 40);
    assert_eq!(names(&second), ["a 2"]);
    store.settle_outbox_claim(&second, &[], 0).unwrap();
    assert_eq!(pages(&store), 0);
}

#[test]
fn claim_is_limited_in_pages_and_bytes_and_takes_the_oldest() {
    let (_dir, store) = fresh();
    put(&store, &["c", "b", "a"].map(|id| page(id, 1)), 10);
    put(&store, &[page("0", 1)], 20);
    assert_eq!(names(&claim(&store, 3, LATER_MS)), ["a 1", "b 1", "c 1"]);
    let size = page("a", 1).record.len();
    for (max_bytes, count) in [(1, 1), (size, 1), (size + 1, 2), (3 * size, 3)] {
        let (_dir, store) = fresh();
        put(&store, &["c", "b", "a", "0"].map(|id| page(id, 1)), 10);
        assert_eq!(store.claim_from_outbox("es", 10, max_bytes, 20).unwrap().pages.len(), count);
    }
}

#[test]
fn kept_pages_are_due_later_and_do_not_block_the_others() {
    let (_dir, store) = fresh();
    put(&store, &["a", "b", "c"].map(|id| page(id, 1)), 10);
    let first = claim(&store, 2, 20);
    store.settle_outbox_claim(&first, &["a".to_owned()], 500).unwrap();
    assert_eq!(names(&claim(&store, ALL, 30)), ["c 1"]);
    let all = claim(&store, ALL, LATER_MS);
    assert_eq!(names(&all), ["a 1", "c 1"]);
    let kept: Vec<String> = all.pages.iter().map(|page| page.id.clone()).collect();
    store.settle_outbox_claim(&all, &kept, LATER_MS + 5).unwrap();
    assert_eq!(names(&claim(&store, ALL, LATER_MS + 4)), Vec::<String>::new());
    assert_eq!(names(&claim(&store, ALL, LATER_MS + 5)), ["a 1", "c 1"]);
}

#[test]
fn processes_of_a_server_take_different_pages() {
    if !is_server() {
        return;
    }
    let (dir, store) = fresh();
    let other = open(dir.path());
    put(&store, &["a", "b", "c"].map(|id| page(id, 1)), 10);
    let (first, second) = (claim(&store, 2, 20), claim(&other, 2, 20));
    assert_eq!(
        (names(&first), names(&second)),
        (vec!["a 1".to_owned(), "b 1".to_owned()], vec!["c 1".to_owned()])
    );
    assert_eq!(claim(&store, 2, 30).pages, []);
    // The first process ends. Its late answer changes nothing any more.
    let taken_over = claim(&other, 2, LATER_MS);
    assert_eq!(names(&taken_over), ["a 1", "b 1"]);
    store.settle_outbox_claim(&first, &[], 0).unwrap();
    assert_eq!(pages(&store), 3);
    other.settle_outbox_claim(&taken_over, &[], 0).unwrap();
    assert_eq!(pages(&store), 1);
}

/// Returns the pages that a writer puts in a round. Those of two writers and rounds overlap.
fn overlapping_pages(writer: u64, round: u64) -> Vec<OutboxPage> {
    (0..10).map(|at| page(&((at + round) % 13).to_string(), 1 + round * 3 + writer)).collect()
}

#[test]
fn concurrent_writers_and_takers_lose_no_page() {
    let (dir, store) = fresh();
    let stores: Vec<Store> =
        (0..3).map(|_| if is_server() { open(dir.path()) } else { store.clone() }).collect();
    let newest = |pages: &mut dyn Iterator<Item = OutboxPage>| {
        pages.fold(BTreeMap::<String, u64>::new(), |mut newest, OutboxPage { id, version, .. }| {
            let known = newest.entry(id).or_default();
            *known = version.max(*known);
            newest
        })
    };
    let taken = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (writer, store) in (0..).zip(&stores) {
            scope.spawn(move || {
                (0..40).for_each(|round| put(store, &overlapping_pages(writer, round), round));
            });
        }
        for store in &stores[..2] {
            let taken = &taken;
            scope.spawn(move || {
                for _ in 0..60 {
                    let claim = claim(store, 5, LATER_MS);
                    taken.lock().unwrap().extend(claim.pages.clone());
                    store.settle_outbox_claim(&claim, &[], 0).unwrap();
                }
            });
        }
    });
    let rest = claim(&store, ALL, 10 * LATER_MS).pages;
    let taken = newest(&mut taken.into_inner().unwrap().into_iter().chain(rest));
    let rounds = (0..3).flat_map(|writer| (0..40).map(move |round| overlapping_pages(writer, round)));
    assert_eq!(taken, newest(&mut rounds.flatten()));
}

#[test]
fn selected_pages_are_removed() {
    let (_dir, store) = fresh();
    put(&store, &["a", "b", "c"].map(|id| page(id, 1)), 10);
    let removed = store.remove_from_outbox("es", |id, url| id == "a" || url == "http://b.test/").unwrap();
    assert_eq!((removed, names(&claim(&store, ALL, 20))), (2, vec!["c 1".to_owned()]));
}

#[test]
fn damaged_page_is_dropped_and_does_not_block_the_others() {
    let (dir, store) = fresh();
    put(&store, &["a", "b"].map(|id| page(id, 1)), 10);
    Rows::open(dir.path()).execute("UPDATE index_outbox SET bytes = bytes + 1 WHERE document = 'a'");
    let taken = claim(&store, ALL, 20);
    assert_eq!(
        (names(&taken), &*taken.damaged),
        (vec!["b 1".to_owned()], &["http://a.test/".to_owned()][..])
    );
    store.settle_outbox_claim(&taken, &[], 0).unwrap();
    assert_eq!(pages(&store), 0);
}
