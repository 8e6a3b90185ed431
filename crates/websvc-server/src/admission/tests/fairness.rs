//! Tests of the shares of teams with many requests.

use super::*;

/// The attack of one team with hundreds of slow requests.
#[tokio::test]
async fn team_with_six_hundred_requests_does_not_delay_another_one() {
    let teams = Teams::new();
    let limits = AdmissionLimits { queue_wait: Duration::from_secs(60), ..AdmissionLimits::default() };
    let admission = Arc::new(Admission::new(limits));
    let callers = ["many", "few"].map(|name| teams.caller(name, UNLIMITED, UNLIMITED));
    let mut slow = Vec::new();
    for _ in 0..limits.total_concurrency {
        slow.push(admit(&admission, &callers[0]).await);
    }
    let queued: Vec<_> =
        (limits.total_concurrency..600).map(|_| spawn_request(&admission, &callers[0])).collect();
    until_queued(&admission, queued.len()).await;
    let mut few = Vec::new();
    for _ in 0..limits.total_concurrency / 16 {
        few.push(admit(&admission, &callers[1]).await);
    }
    assert_eq!(admission.metrics().queued, queued.len(), "the other team did not wait");
    // When its part of the reserve is taken, it gets the next released permits.
    let before = few.len();
    let waiting: Vec<_> = (0..64).map(|_| spawn_request(&admission, &callers[1])).collect();
    until("all permits for the team are taken", || {
        admission.metrics().queued == queued.len() + waiting.iter().filter(|task| !task.is_finished()).count()
    })
    .await;
    let has_permit = || waiting.iter().filter(|task| task.is_finished()).count();
    let taken = has_permit();
    assert!(before + taken < limits.total_concurrency / 8, "{before} and {taken}");
    for released in 1..=3 {
        slow.pop();
        until("the released permit is for the other team", || has_permit() == taken + released).await;
    }
    slow.truncate(100);
    until("its requests are before those that were queued earlier", || has_permit() == waiting.len()).await;
    assert_eq!(admission.metrics().rejected_overload, 0);
    queued.iter().chain(&waiting).for_each(JoinHandle::abort);
}
