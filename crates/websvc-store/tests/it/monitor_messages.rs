//! Tests of the recipients of emails, and of messages to people.

use websvc_store::{
    CheckRecord, CheckStatus, ConfirmationLimits, ConfirmationPermit, FinishedCheck, LinkAction, MessageKind,
    MessageOutcome, MessageRecord, MonitorLimits, MonitorRecord, MonitorUpdate, NewRecipient,
    RecipientSource, RecipientStatus, ReplicaRole, Store,
};

use crate::monitors::{finished, manual, monitor, start, sweep};
use crate::server::{on_server, open_elsewhere};
use crate::{fresh, open};

const DAY_MS: u64 = 86_400_000;

fn joined() -> (tempfile::TempDir, Store) {
    let (dir, store) = fresh();
    store.join_replicas(ReplicaRole::Worker).unwrap();
    (dir, store)
}

/// Returns a recipient whose hashes are made of `id`.
fn recipient(id: u8, address: &str) -> NewRecipient {
    NewRecipient {
        id: id.to_string(),
        address: address.to_owned(),
        confirm_hash: [id; 32],
        unsubscribe_hash: [id + 100; 32],
    }
}

/// Ends a new check of a monitor, which has messages.
fn end_check(store: &Store, monitor: &MonitorRecord, id: &str, now_ms: u64) -> CheckRecord {
    let check = start(store, &manual(monitor, id), now_ms);
    let end = FinishedCheck {
        has_messages: true,
        notifications: "{}".to_owned(),
        ..finished(CheckStatus::Completed)
    };
    store.finish_check(check.number, &end, now_ms + DAY_MS, now_ms).unwrap().unwrap();
    check
}

const ALL: [MessageKind; 4] =
    [MessageKind::Check, MessageKind::Confirmation, MessageKind::Email, MessageKind::Channel];

fn claim(store: &Store, now_ms: u64) -> Vec<MessageRecord> {
    store.claim_messages(&ALL, 100, now_ms).unwrap()
}

#[track_caller]
fn claim_one(store: &Store, now_ms: u64) -> MessageRecord {
    let mut claimed = claim(store, now_ms);
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    claimed.remove(0)
}

#[track_caller]
fn record(store: &Store, message: &MessageRecord, outcome: MessageOutcome, now_ms: u64) {
    let change = |json: &str| format!(r#"{{"before":{json}}}"#);
    assert!(store.record_message_outcome(message, outcome, change, now_ms).unwrap());
}

/// Updates a monitor with these recipients.
fn set_recipients(store: &Store, monitor: &MonitorRecord, recipients: &[NewRecipient], now_ms: u64) {
    let stored = store.monitor_by_id(&monitor.id).unwrap().unwrap();
    let update = MonitorUpdate {
        definition: stored.definition,
        status: stored.status,
        next_run_ms: stored.next_run_ms,
        recipients: Some(recipients.to_vec()),
    };
    assert!(store.update_monitor(stored.number, stored.revision, &update, now_ms).unwrap().is_some());
}

fn confirm(store: &Store, id: u8) {
    store.follow_link(LinkAction::Confirm, &[id; 32], 5).unwrap().unwrap();
}

#[test]
fn new_recipient_is_pending_and_asked_once() {
    let (_dir, store) = joined();
    let monitor = monitor(&store, "m", None);
    set_recipients(&store, &monitor, &[recipient(1, "a@t.test")], 1);
    set_recipients(&store, &monitor, &[recipient(2, "a@t.test"), recipient(3, "b@t.test")], 2);
    let recipients = store.recipients(monitor.number).unwrap();
    let found: Vec<_> = recipients.iter().map(|found| (found.id.as_str(), found.address.as_str())).collect();
    assert_eq!(found, [("1", "a@t.test"), ("3", "b@t.test")]);
    assert_eq!(
        (recipients[0].status, recipients[0].source, recipients[0].is_confirmation_sent),
        (RecipientStatus::Pending, RecipientSource::OptIn, false)
    );
    let messages = claim(&store, 2);
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0].recipient.as_ref(), Some(&recipients[0]));
    record(&store, &messages[0], MessageOutcome::Sent, 3);
    assert!(store.recipients(monitor.number).unwrap()[0].is_confirmation_sent);
    // Neither the one that was sent nor the one that is being sent is enqueued again.
    set_recipients(&store, &monitor, &[recipient(4, "a@t.test"), recipient(5, "b@t.test")], 4);
    assert_eq!(claim(&store, 4), []);
    // A failed one is, when the team saves the monitor again.
    record(&store, &messages[1], MessageOutcome::Dropped, 5);
    set_recipients(&store, &monitor, &[recipient(6, "a@t.test"), recipient(7, "b@t.test")], 6);
    assert_eq!(claim_one(&store, 6).recipient.unwrap().address, "b@t.test");
}

#[test]
fn answer_of_a_recipient_outlives_its_removal_and_a_pending_one_does_not() {
    let (_dir, store) = joined();
    let monitor = monitor(&store, "m", None);
    let named = [recipient(1, "a@t.test"), recipient(2, "b@t.test"), recipient(3, "c@t.test")];
    set_recipients(&store, &monitor, &named, 1);
    confirm(&store, 1);
    store.follow_link(LinkAction::Unsubscribe, &[102; 32], 2).unwrap().unwrap();
    set_recipients(&store, &monitor, &[], 3);
    let statuses = |store: &Store| {
        let recipients = store.recipients(monitor.number).unwrap();
        recipients.into_iter().map(|found| (found.address, found.status)).collect::<Vec<_>>()
    };
    let answered = [
        ("a@t.test".to_owned(), RecipientStatus::Confirmed),
        ("b@t.test".to_owned(), RecipientStatus::Unsubscribed),
    ];
    assert_eq!(statuses(&store), answered);
    set_recipients(&store, &monitor, &[recipient(4, "a@t.test"), recipient(5, "b@t.test")], 4);
    assert_eq!(statuses(&store), answered);
}

#[test]
fn answered_recipients_that_are_not_named_are_bounded() {
    let (_dir, store) = joined();
    let monitor = monitor(&store, "m", None);
    for id in 0..=101_u8 {
        set_recipients(&store, &monitor, &[recipient(id, &format!("{id}@t.test"))], id.into());
        store.follow_link(LinkAction::Confirm, &[id; 32], id.into()).unwrap().unwrap();
        for message in claim(&store, id.into()) {
            record(&store, &message, MessageOutcome::Sent, id.into());
        }
    }
    // The first one was deleted when the last one was added. One that is named again stays, however old its answer is.
    let addresses = || -> Vec<String> {
        store.recipients(monitor.number).unwrap().into_iter().map(|stored| stored.address).collect()
    };
    let expected =
        |ids: std::ops::RangeInclusive<u8>| ids.map(|id| format!("{id}@t.test")).collect::<Vec<_>>();
    assert_eq!(addresses(), expected(1..=101));
    set_recipients(&store, &monitor, &[recipient(150, "1@t.test")], 200);
    assert_eq!(addresses(), expected(1..=101));
    set_recipients(&store, &monitor, &[], 201);
    assert_eq!(addresses(), expected(2..=101));
}

#[test]
fn link_is_found_by_its_action_and_hash_until_the_monitor_is_deleted() {
    let (_dir, store) = joined();
    let monitor = monitor(&store, "m", None);
    set_recipients(&store, &monitor, &[recipient(1, "a@t.test")], 1);
    let find = |action, byte: u8| store.recipient_by_link(action, &[byte; 32]).unwrap();
    let (found, of) = find(LinkAction::Unsubscribe, 101).unwrap();
    assert_eq!(
        (found.address.as_str(), found.status, of.id.as_str()),
        ("a@t.test", RecipientStatus::Pending, "m")
    );
    assert!(find(LinkAction::Confirm, 101).is_none() && find(LinkAction::Unsubscribe, 1).is_none());
    let (confirmed, _) = store.follow_link(LinkAction::Confirm, &[1; 32], 2).unwrap().unwrap();
    assert_eq!(confirmed.status, RecipientStatus::Confirmed);
    store.delete_monitor("tea", "m", 3).unwrap();
    assert!(find(LinkAction::Confirm, 1).is_none());
    assert!(store.follow_link(LinkAction::Unsubscribe, &[101; 32], 3).unwrap().is_none());
    assert_eq!(claim(&store, 9), [], "nothing is sent for a deleted monitor");
    sweep(&store, &MonitorLimits::default(), 4);
    assert_eq!(store.recipients(monitor.number).unwrap(), []);
}

#[test]
fn end_of_a_check_becomes_a_message_for_each_recipient_and_channel() {
    let (_dir, store) = joined();
    let monitor = monitor(&store, "m", None);
    set_recipients(&store, &monitor, &[recipient(1, "a@t.test"), recipient(2, "b@t.test")], 1);
    for message in claim(&store, 1) {
        record(&store, &message, MessageOutcome::Sent, 1);
    }
    let numbers: Vec<i64> =
        store.recipients(monitor.number).unwrap().iter().map(|found| found.number).collect();
    let check = end_check(&store, &monitor, "c", 2);
    let ended = claim_one(&store, 2);
    assert_eq!((ended.kind, ended.check), (MessageKind::Check, Some(check.number)));
    assert_eq!(store.monitor_metrics(2).unwrap().messages, 1);
    let channels = ["slack".to_owned(), "c1".to_owned()];
    let notifications = |emails: u64, fits: bool| format!(r#"[{emails},{fits}]"#);
    assert!(store.expand_check_message(&ended, &numbers, &channels, 100, notifications, 3).unwrap());
    // It is gone, so it cannot be expanded twice.
    assert!(!store.expand_check_message(&ended, &numbers, &channels, 100, notifications, 3).unwrap());
    let stored = |store: &Store| store.check_by_number(check.number).unwrap().unwrap().notifications;
    assert_eq!(stored(&store), "[2,true]");
    let messages = claim(&store, 3);
    let mut kinds: Vec<(&str, Option<&str>)> =
        messages.iter().map(|message| (message.kind.as_str(), message.channel.as_deref())).collect();
    kinds.sort_unstable();
    let channels = [("channel", Some("c1")), ("channel", Some("slack"))];
    assert_eq!(kinds, [channels[0], channels[1], ("email", None), ("email", None)]);
}

#[test]
fn messages_beyond_the_maximum_are_not_enqueued() {
    let (_dir, store) = joined();
    let monitor = monitor(&store, "m", None);
    let notifications = |emails: u64, fits: bool| format!(r#"[{emails},{fits}]"#);
    // The message about the check itself, and confirmations, do not count.
    set_recipients(&store, &monitor, &[recipient(1, "a@t.test")], 1);
    let confirmation = claim_one(&store, 1);
    for (id, expected) in [("c", "[0,true]"), ("d", "[0,false]")] {
        let check = end_check(&store, &monitor, id, 2);
        let ended = claim(&store, 2).into_iter().find(|message| message.check == Some(check.number)).unwrap();
        assert!(store.expand_check_message(&ended, &[], &["slack".to_owned()], 1, notifications, 3).unwrap());
        assert_eq!(store.check_by_number(check.number).unwrap().unwrap().notifications, expected);
    }
    record(&store, &confirmation, MessageOutcome::Dropped, 4);
    assert_eq!(claim_one(&store, 9).kind, MessageKind::Channel);
}

#[test]
fn failed_attempt_is_repeated_at_its_time_and_changes_the_check() {
    let (_dir, store) = joined();
    let monitor = monitor(&store, "m", None);
    let check = end_check(&store, &monitor, "c", 2);
    let first = claim_one(&store, 2);
    assert_eq!((first.attempts, first.interruptions), (1, 0));
    record(&store, &first, MessageOutcome::Retry { due_at_ms: 50, is_uncertain: true }, 3);
    assert_eq!(claim(&store, 49), []);
    let second = claim_one(&store, 50);
    assert_eq!((second.attempts, second.interruptions), (2, 1));
    record(&store, &second, MessageOutcome::Retry { due_at_ms: 60, is_uncertain: false }, 51);
    let third = claim_one(&store, 60);
    assert_eq!((third.attempts, third.interruptions), (3, 1));
    record(&store, &third, MessageOutcome::Dropped, 61);
    assert_eq!(claim(&store, u64::from(u32::MAX)), []);
    let stored = store.check_by_number(check.number).unwrap().unwrap().notifications;
    assert_eq!(stored, r#"{"before":{"before":{"before":{}}}}"#);
    // The outcome of a message is recorded once.
    let change = |_: &str| unreachable!("the message is gone");
    assert!(!store.record_message_outcome(&third, MessageOutcome::Sent, change, 62).unwrap());
}

#[test]
fn message_of_a_process_that_ended_is_taken_over_as_interrupted() {
    let (dir, store) = joined();
    let monitor = monitor(&store, "m", None);
    end_check(&store, &monitor, "c", 2);
    let first = claim_one(&store, 2);
    drop(store);
    let store = open(dir.path());
    assert_eq!(claim(&store, 3), [], "a process that has not joined sends nothing");
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let second = claim_one(&store, 3);
    let found = (second.number, second.attempts, second.interruptions);
    assert_eq!(found, (first.number, 1, 0), "the first process had not begun to send");
    assert!(store.begin_sending(&second).unwrap());
    drop(store);
    let store = open(dir.path());
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let third = claim_one(&store, 4);
    assert_eq!((third.number, third.attempts, third.interruptions), (first.number, 2, 1));
}

#[test]
fn one_of_several_replicas_sends_a_message() {
    let Some((dir, store)) = on_server() else { return };
    let (elsewhere, other) = open_elsewhere(&dir);
    store.join_replicas(ReplicaRole::Worker).unwrap();
    other.join_replicas(ReplicaRole::Worker).unwrap();
    let monitor = monitor(&store, "m", None);
    end_check(&store, &monitor, "c", 2);
    let message = claim_one(&other, 2);
    assert_eq!(claim(&store, 2), []);
    assert!(!store.begin_sending(&message).unwrap());
    assert!(other.begin_sending(&message).unwrap());
    let change = |_: &str| unreachable!("another replica owns the message");
    assert!(!store.record_message_outcome(&message, MessageOutcome::Sent, change, 3).unwrap());
    assert!(!store.expand_check_message(&message, &[], &[], 9, |_, _| unreachable!(), 3).unwrap());
    // A replica that ends frees what it owns.
    drop((other, elsewhere));
    assert_eq!(claim_one(&store, 4).interruptions, 1);
}

#[test]
fn concurrent_claims_take_each_message_once() {
    const MONITORS: usize = 60;
    let (_dir, store) = joined();
    for number in 0..MONITORS {
        let monitor = monitor(&store, &format!("m{number}"), None);
        end_check(&store, &monitor, &format!("c{number}"), 1);
    }
    let claim_all = || {
        let one = || store.claim_messages(&ALL, 1, 2).unwrap().pop();
        std::iter::from_fn(one).map(|message| message.number).collect::<Vec<_>>()
    };
    let mut claimed: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim_all)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    claimed.sort_unstable();
    let count = claimed.len();
    claimed.dedup();
    assert_eq!((count, claimed.len()), (MONITORS, MONITORS));
}

#[test]
fn teams_take_turns_and_first_attempts_come_first() {
    let (_dir, store) = joined();
    let own = [monitor(&store, "a", None), monitor(&store, "b", None), monitor(&store, "c", None)];
    let other = crate::monitors::monitor_of(&store, "cup", "d", None);
    for (now_ms, monitor) in own.iter().chain([&other]).enumerate() {
        end_check(&store, monitor, &format!("check {}", monitor.id), now_ms as u64);
    }
    let claimed = store.claim_messages(&ALL, 2, 9).unwrap();
    let monitors: Vec<i64> = claimed.iter().map(|message| message.monitor).collect();
    assert_eq!(monitors, [own[0].number, other.number]);
    record(&store, &claimed[0], MessageOutcome::Retry { due_at_ms: 1, is_uncertain: false }, 9);
    let next = store.claim_messages(&ALL, 3, 10).unwrap();
    let monitors: Vec<i64> = next.iter().map(|message| message.monitor).collect();
    assert_eq!(monitors, [own[1].number, own[2].number, own[0].number]);
    assert_eq!(store.claim_messages(&[MessageKind::Channel], 9, 10).unwrap(), []);
}

#[test]
fn confirmations_of_an_address_and_a_team_are_limited() {
    let (_dir, store) = joined();
    let limits = ConfirmationLimits { max_per_address_day: 1, max_per_address_month: 2, max_per_team_day: 2 };
    let monitor = monitor(&store, "m", None);
    let named: Vec<NewRecipient> = (1..=4).map(|id| recipient(id, &format!("{id}@t.test"))).collect();
    set_recipients(&store, &monitor, &named, 0);
    let messages = claim(&store, 0);
    let permit = |message: &MessageRecord, hash: u8, now_ms: u64| {
        store.permit_confirmation(message, &[hash; 32], &limits, now_ms).unwrap()
    };
    assert_eq!(permit(&messages[0], 1, 10), ConfirmationPermit::Granted);
    assert_eq!(permit(&messages[0], 1, 11), ConfirmationPermit::Granted, "the same message");
    assert_eq!(permit(&messages[1], 1, 12), ConfirmationPermit::Postponed, "the same address");
    assert_eq!(permit(&messages[1], 1, 12), ConfirmationPermit::Lost, "it waits");
    assert_eq!(permit(&messages[2], 2, 20), ConfirmationPermit::Granted);
    assert_eq!(permit(&messages[3], 3, 21), ConfirmationPermit::Postponed, "the same team");
    // Each waits until its limit allows it, and this attempt does not count.
    assert_eq!(claim(&store, 9 + DAY_MS), []);
    let due = claim(&store, 10 + DAY_MS);
    assert_eq!(due.iter().map(|message| message.attempts).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(permit(&due[0], 1, 20 + DAY_MS), ConfirmationPermit::Granted);
    // The third one of the address within a month.
    assert_eq!(permit(&due[1], 1, 20 + 3 * DAY_MS), ConfirmationPermit::Postponed);
    assert_eq!(claim(&store, 9 + 30 * DAY_MS), []);
    let last = claim_one(&store, 10 + 30 * DAY_MS);
    sweep(&store, &MonitorLimits::default(), 10 + 30 * DAY_MS);
    assert_eq!(permit(&last, 1, 10 + 30 * DAY_MS), ConfirmationPermit::Granted);
}

#[test]
fn link_secret_is_created_once() {
    let (dir, store) = fresh();
    let secret = store.link_secret().unwrap();
    assert_ne!(secret, store.artifact_secret().unwrap());
    drop(store);
    assert_eq!(open(dir.path()).link_secret().unwrap(), secret);
}
