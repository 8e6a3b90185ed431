//! Reports a clock of the machine that differs from the time of the service: in `/ready` and in the log.

use std::convert::Infallible;
use std::time::Duration;

use websvc_store::{CLOCK_HOLD, MAX_CLOCK_SKEW, Store};
use websvc_types::status::{ClockReadiness, ClockState};

/// Interval at which the clock is read. A clock that was set is noticed within that time.
const INTERVAL: Duration = Duration::from_secs(1);

/// Returns the state of the clock of the machine.
pub(crate) fn readiness(store: &Store) -> ClockReadiness {
    let ahead_ms = store.clock().skew_ms();
    if u128::from(ahead_ms.unsigned_abs()) <= MAX_CLOCK_SKEW.as_millis() {
        return ClockReadiness::default();
    }
    let reason = Some(reason(ahead_ms, store.is_shared()));
    ClockReadiness { state: ClockState::Wrong, ahead_ms: Some(ahead_ms), reason }
}

fn reason(ahead_ms: i64, is_shared: bool) -> String {
    let seconds = (ahead_ms.unsigned_abs() + 500) / 1000;
    let direction = if ahead_ms > 0 { "ahead" } else { "behind" };
    if is_shared {
        return format!(
            "the clock of this machine is {seconds} seconds {direction} of that of the database, whose time is used: \
             set it, with NTP for example"
        );
    }
    let minutes = CLOCK_HOLD.as_secs() / 60;
    format!(
        "the clock of this machine was set {seconds} seconds {direction}: the service follows it {minutes} minutes \
         later; if it is wrong, set it back before"
    )
}

/// Logs each change of the state of the clock.
pub(crate) async fn watch(store: &Store) -> Infallible {
    let mut last = ClockState::Ok;
    loop {
        let ClockReadiness { state, reason, ahead_ms } = readiness(store);
        if state != last {
            match reason {
                Some(reason) => tracing::warn!(ahead_ms, "{reason}"),
                None => tracing::info!("the clock of this machine agrees with the time of the service again"),
            }
            last = state;
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_was_set_is_named_with_direction_and_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(readiness(&store), ClockReadiness::default());
        for (ahead_s, expected) in [(90_000, "set 90000 seconds ahead"), (-90_000, "seconds behind")] {
            store.clock().set_wall_ahead(ahead_s * 1000);
            let ClockReadiness { state, ahead_ms, reason } = readiness(&store);
            assert_eq!(state, ClockState::Wrong);
            assert!(ahead_ms.unwrap().abs_diff(ahead_s * 1000) < 1000, "{ahead_ms:?}");
            let reason = reason.unwrap();
            assert!(reason.contains(expected) && reason.contains("5 minutes"), "{reason}");
        }
        store.clock().set_wall_ahead(0);
        assert_eq!(readiness(&store), ClockReadiness::default());
        assert!(reason(6_000, true).contains("6 seconds ahead of that of the database"));
    }
}
