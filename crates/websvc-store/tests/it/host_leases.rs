//! Tests of jobs on which several replicas work, and of hosts, of which each has one replica.

use websvc_store::{CompletionOutcome, JobLease, JobLimits, JobState, JobUrl, NewHosts, ReplicaRole, Store};

use crate::jobs::{complete, create, document, job, names};
use crate::server::{eventually, on_server, open_elsewhere};

fn join(store: &Store) {
    store.join_replicas(ReplicaRole::Worker).unwrap();
}

/// Creates a job with pages of these hosts.
fn create_with_hosts(store: &Store, id: &str, hosts: &[&str]) -> i64 {
    let url = |(number, host): (usize, &&str)| {
        let url = format!("https://{host}/{number}");
        JobUrl { key: url.clone(), url, depth: 0, entry: None }
    };
    let mut new = job(id, &[]);
    new.urls = hosts.iter().enumerate().map(url).collect();
    create(store, &new)
}

fn hosts(leases: &[JobLease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.url.url.split('/').nth(2).unwrap()).collect()
}

fn helped(store: &Store) -> Vec<i64> {
    store.claim_jobs(None).unwrap().helped.into_iter().map(|(number, _)| number).collect()
}

#[test]
fn replicas_share_a_job_but_no_host() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let list: Vec<&str> = ["a.test", "b.test:8080", "www.a.test", "c.test"].repeat(20);
    let number = create_with_hosts(&store, "j", &list);
    assert!(helped(&other).is_empty(), "its owner has not started it");
    assert!(!other.start_job(number, true).unwrap() && store.start_job(number, true).unwrap());
    assert_eq!(helped(&other), [number]);
    assert!(other.start_job(number, true).unwrap());

    let own = store.lease_job_urls(number, 2, NewHosts::Wanted).unwrap();
    assert_eq!(hosts(&own), ["a.test", "b.test:8080"]);
    let theirs = other.lease_job_urls(number, 100, NewHosts::Wanted).unwrap();
    assert_eq!((theirs.len(), hosts(&theirs)[0]), (20, "c.test"));
    assert_eq!(other.lease_job_urls(number, 100, NewHosts::Wanted).unwrap(), []);
    assert_eq!(store.lease_job_urls(number, 100, NewHosts::Wanted).unwrap().len(), 58);

    for lease in &own {
        assert!(store.release_job_url(lease).unwrap());
    }
    store.release_hosts(&["a.test".to_owned(), "b.test:8080".to_owned()]).unwrap();
    let moved = other.lease_job_urls(number, 100, NewHosts::Wanted).unwrap();
    assert_eq!(hosts(&moved), ["a.test", "b.test:8080"]);
    for lease in theirs.iter().chain(&moved) {
        assert!(matches!(complete(&other, lease, document("x")), CompletionOutcome::Recorded { .. }));
    }
    // Replicas that help with it go on until it ends, however few URLs are left.
    assert_eq!(helped(&other), [number]);
    let share = |store: &Store| store.claim_jobs(None).unwrap().team_shares["tea"].part_of(5);
    eventually(|| (store.workers() == 2 && other.workers() == 2).then_some(()));
    assert_eq!((share(&store), share(&other)), (3, 2), "they divide the limit of the team");
}

#[test]
fn leases_and_hosts_of_a_lost_replica_are_free() {
    let Some((dir, store)) = on_server() else { return };
    let (elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let number = create_with_hosts(&store, "j", &["a.test", "b.test"]);
    assert!(store.start_job(number, true).unwrap());
    let leases = other.lease_job_urls(number, 1, NewHosts::Wanted).unwrap();
    assert_eq!(hosts(&leases), ["a.test"]);
    assert!(other.begin_job_url(&leases[0]).unwrap());
    assert_eq!(hosts(&store.lease_job_urls(number, 9, NewHosts::Wanted).unwrap()), ["b.test"]);
    drop((other, elsewhere));
    let again = store.lease_job_urls(number, 9, NewHosts::Wanted).unwrap();
    assert_eq!((hosts(&again), again[0].interruptions()), (vec!["a.test"], 1));
}

#[test]
fn job_moves_to_the_replica_that_has_its_host() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let first = create_with_hosts(&store, "first", &["a.test", "a.test"]);
    let second = create_with_hosts(&other, "second", &["www.a.test", "b.test"]);
    assert!(store.start_job(first, false).unwrap() && other.start_job(second, false).unwrap());
    assert!(!other.move_job_to_host(second).unwrap(), "no replica has the host");
    store.lease_job_urls(first, 1, NewHosts::Wanted).unwrap();
    let leases = other.lease_job_urls(second, 9, NewHosts::Wanted).unwrap();
    assert_eq!(hosts(&leases), ["b.test"]);
    assert!(other.move_job_to_host(second).unwrap());
    assert_eq!(other.lease_job_urls(second, 9, NewHosts::Wanted).unwrap(), []);
    // The page in flight ends where it began.
    complete(&other, &leases[0], document("b"));
    assert!(store.start_job(second, false).unwrap());
    assert_eq!(hosts(&store.lease_job_urls(second, 9, NewHosts::Wanted).unwrap()), ["www.a.test"]);
}

#[test]
fn copies_need_no_host_and_the_page_limit_holds_for_all_replicas() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let url = |host: &str, index| JobUrl {
        url: format!("http://{host}/"),
        key: host.to_owned(),
        depth: 0,
        entry: Some(websvc_store::ListEntry { original_url: host.to_owned(), index }),
    };
    let mut new = job("copies", &[]);
    new.urls = vec![url("a.test", 0), url("a.test", 1), url("b.test", 2)];
    new.list_len = 3;
    let number = create(&store, &new);
    assert!(store.start_job(number, true).unwrap());
    let first = store.lease_job_urls(number, 1, NewHosts::Wanted).unwrap();
    complete(&store, &first[0], document("a"));
    let rest = other.lease_job_urls(number, 9, NewHosts::Wanted).unwrap();
    assert_eq!(names(&rest).len(), 2, "the host of the copy is that of the other replica");

    let mut limited = job("limited", &[]);
    limited.page_limit = Some(1);
    limited.urls = vec![url("c.test", 0), url("d.test", 1)];
    let number = create(&store, &limited);
    assert!(store.start_job(number, true).unwrap());
    assert_eq!(store.lease_job_urls(number, 9, NewHosts::Wanted).unwrap().len(), 1);
    assert_eq!(other.lease_job_urls(number, 9, NewHosts::Wanted).unwrap(), []);
    other.fail_job(number, "no space", &JobLimits::default(), 0).unwrap();
    assert_eq!(store.job_by_number(number).unwrap().unwrap().state, JobState::Failed);
}

#[test]
fn replica_leaves_hosts_to_the_others_until_it_needs_them() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    eventually(|| (store.workers() == 2).then_some(()));
    let names: Vec<String> = (0..12).map(|number| format!("host{number}.test")).collect();
    let list: Vec<&str> = names.iter().map(String::as_str).collect();
    let number = create_with_hosts(&store, "j", &list.repeat(3));
    assert!(store.start_job(number, true).unwrap());
    let lease = |max, new| store.lease_job_urls(number, max, new).unwrap();
    let names = |numbers: &[usize]| numbers.iter().map(|number| list[*number]).collect::<Vec<&str>>();
    assert_eq!(hosts(&lease(2, NewHosts::IfNeeded)), names(&[0, 1]));
    assert_eq!(hosts(&lease(2, NewHosts::IfNeeded)), names(&[0, 1]), "they have URLs left");
    assert_eq!(hosts(&lease(2, NewHosts::Wanted)), names(&[2, 3]));
    let many = lease(99, NewHosts::IfNeeded);
    assert_eq!(many.len(), 2 + 4 + 3 * 3, "all of the four hosts, and of three more");
    let rest = other.lease_job_urls(number, 99, NewHosts::IfNeeded).unwrap();
    assert_eq!(hosts(&rest)[..4], names(&[7, 8, 9, 10]));
}

#[test]
fn replica_goes_on_with_a_job_that_it_helps_with_however_many_others_need_help() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let hosts = ["a.test"; 64];
    let start = |id: usize| {
        let number = create_with_hosts(&store, &id.to_string(), &hosts);
        assert!(store.start_job(number, true).unwrap());
        number
    };
    let jobs: Vec<i64> = (0..65).map(start).collect();
    let last = jobs[64];
    assert!(!helped(&other).contains(&last), "the oldest ones come first");
    assert!(other.start_job(last, true).unwrap());
    assert_eq!(helped(&other)[0], last, "otherwise its leases would be lost");
}
