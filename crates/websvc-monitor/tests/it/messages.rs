//! The messages about a check, and its entry in the feed.

use uuid::Uuid;
use websvc_store::{
    BillingStatus, CheckStatus, CheckTrigger, FinishedCheck, MonitorUpdate, NewCheck, StartCheckOutcome,
};

use crate::schedule::{DAY, Running, count, to_ms};

#[tokio::test(flavor = "multi_thread")]
async fn message_about_a_monitor_of_a_later_version_waits_for_that_version() {
    let mut running = Running::start().await;
    running.stop_monitors();
    let monitor = running.create("daily").await;
    let update = MonitorUpdate {
        definition: r#"{"definition":{"later":true}}"#.to_owned(),
        status: monitor.status,
        next_run_ms: None,
        recipients: None,
    };
    let store = &running.store;
    store.update_monitor(monitor.number, monitor.revision, &update, 1).unwrap().unwrap();
    let new = NewCheck {
        id: Uuid::new_v4().to_string(),
        monitor: monitor.number,
        trigger: CheckTrigger::Manual,
        scheduled_for_ms: None,
        next_run_ms: None,
        estimated_credits: 0,
        billing: BillingStatus::NotApplicable,
        webhook: None,
        retention_until_ms: u64::from(u32::MAX),
    };
    let StartCheckOutcome::Started(check) = store.start_check(&new, 1).unwrap() else {
        panic!("not started")
    };
    let finished = FinishedCheck {
        status: CheckStatus::Completed,
        error: None,
        actual_credits: 0,
        billing: BillingStatus::NotApplicable,
        notifications: "{}".to_owned(),
        has_messages: true,
    };
    let until_ms = to_ms(running.clock.now() + 30 * DAY);
    store.finish_check(check.number, &finished, until_ms, 1).unwrap().unwrap();
    running.run_monitors();
    let checks = running.wait(&monitor, |checks| checks[0].notifications != "{}").await;
    assert!(checks[0].notifications.contains("later version"), "{}", checks[0].notifications);
    assert_eq!(running.store.monitor_metrics(to_ms(running.clock.now())).unwrap().messages, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn end_of_a_check_decides_on_its_entry_in_the_feed() {
    let running = Running::start().await;
    let monitor = running.create("daily").await;
    running.clock.advance(DAY);
    let checks = running.wait(&monitor, |checks| count(checks, CheckStatus::Completed) == 1).await;
    let token = running.monitors.feed_token(&monitor).await.unwrap();
    let entries = async || {
        let url = "http://websvc.test/feed".parse().unwrap();
        let feed = running.monitors.feed(&monitor.id, &token, url).await.unwrap().unwrap();
        feed.matches("<entry>").count()
    };
    assert_eq!(entries().await, 1, "the page is new");
    let set = |json: &str| assert!(running.store.set_check_notifications(checks[0].number, json, 1).unwrap());
    // The pages are not read again, except those of a check without this value.
    set(r#"{"found":[]}"#);
    assert_eq!(entries().await, 0);
    set("{}");
    assert_eq!(entries().await, 1);
}
