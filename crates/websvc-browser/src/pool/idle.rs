//! The end of a process that has had no page for a while.

use std::sync::Weak;

use tokio::time::Instant;

use super::shared::Shared;

/// Ends the current process when it has had no page for long enough.
pub(super) async fn reap_idle_process(shared: Weak<Shared>) {
    loop {
        let Some(strong) = shared.upgrade() else { return };
        let keep = strong.config.idle_shutdown;
        let due = {
            let mut current = strong.current.lock().await;
            match (&current.process, &current.starting) {
                (Some(process), _) => match process.idle_since() {
                    Some(since) if since.elapsed() >= keep => {
                        current.ready = None;
                        if let Some(process) = current.process.take() {
                            process.stop().await;
                        }
                        return;
                    }
                    Some(since) => since + keep,
                    None => Instant::now() + keep,
                },
                // The request that wanted it had no time left, and none came after it.
                (None, Some(starting)) if starting.is_finished() => {
                    current.starting = None;
                    return;
                }
                (None, Some(_)) => Instant::now() + keep,
                (None, None) => return,
            }
        };
        // The browser may be dropped meanwhile.
        drop(strong);
        tokio::time::sleep_until(due).await;
    }
}
