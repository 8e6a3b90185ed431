//! Tests of the counts of teams that replicas write for each other.

use std::collections::BTreeMap;

use websvc_store::{ReplicaRole, Store, TeamActivity};

use crate::credits::{give, hold_credits, usage};
use crate::server::{on_server, open_elsewhere};

fn activity(requests: u64, pages: u64, queued: u64) -> TeamActivity {
    TeamActivity { requests, pages, queued }
}

fn publish(store: &Store, teams: &[(&str, TeamActivity)]) {
    let teams: BTreeMap<String, TeamActivity> =
        teams.iter().map(|(team, activity)| ((*team).to_owned(), *activity)).collect();
    store.publish_activity(&teams).unwrap();
}

#[test]
fn replicas_read_the_sums_of_the_others() {
    let Some((dir, store)) = on_server() else { return };
    let (_second, second) = open_elsewhere(&dir);
    let (third_dir, third) = open_elsewhere(&dir);
    publish(&store, &[("tea", activity(1, 1, 1))]);
    assert_eq!(second.activity_of_others("tea").unwrap(), activity(0, 0, 0), "it has not joined");
    for store in [&store, &second, &third] {
        store.join_replicas(ReplicaRole::Worker).unwrap();
    }
    publish(&store, &[("tea", activity(1, 2, 3)), ("a \"quoted\" team", activity(7, 0, 0))]);
    publish(&second, &[("tea", activity(10, 20, 30))]);
    publish(&third, &[("coffee", activity(5, 5, 5))]);
    publish(&third, &[("tea", activity(100, 200, 300))]);
    assert_eq!(store.activity_of_others("tea").unwrap(), activity(110, 220, 330));
    assert_eq!(second.activity_of_others("a \"quoted\" team").unwrap(), activity(7, 0, 0));
    assert_eq!(second.activity_of_others("coffee").unwrap(), activity(0, 0, 0));
    drop((third, third_dir));
    assert_eq!(store.activity_of_others("tea").unwrap(), activity(10, 20, 30), "one has ended");
}

#[test]
fn file_has_no_others() {
    let (_dir, store) = crate::fresh_file();
    store.join_replicas(ReplicaRole::Worker).unwrap();
    publish(&store, &[("tea", activity(1, 2, 3))]);
    assert_eq!(store.activity_of_others("tea").unwrap(), activity(0, 0, 0));
}

#[test]
fn requests_in_flight_are_counted_by_team() {
    let (_dir, store) = crate::fresh();
    let (tea, coffee) = (give(&store, "tea", Some(100)), give(&store, "coffee", None));
    let holds =
        [hold_credits(&store, &tea, 1), hold_credits(&store, &tea, 1), hold_credits(&store, &coffee, 1)];
    let mut counts = store.requests_in_flight_by_team();
    counts.sort();
    assert_eq!(counts, [("coffee".to_owned(), 1), ("tea".to_owned(), 2)]);
    for hold in holds {
        hold.settle(usage(1));
    }
    assert_eq!(store.requests_in_flight_by_team(), []);
}
