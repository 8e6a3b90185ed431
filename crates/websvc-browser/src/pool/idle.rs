//! The end of an idle process.

use std::sync::Weak;

use tokio::time::Instant;

use super::shared::Shared;

/// Stops the current process when it has had no page for the configured time.
pub(super) async fn reap_idle_process(shared: Weak<Shared>) {
    loop {
        let Some(browser) = shared.upgrade() else { return };
        let idle_shutdown = browser.config.idle_shutdown;
        let due = {
            let mut current = browser.current.lock().await;
            match (&current.process, &current.starting) {
                (Some(process), _) => match process.idle_since() {
                    Some(since) if since.elapsed() >= idle_shutdown => {
                        current.warm_page = None;
                        if let Some(process) = current.process.take() {
                            process.stop().await;
                        }
                        return;
                    }
                    Some(since) => since + idle_shutdown,
                    None => Instant::now() + idle_shutdown,
                },
                // The request that started it timed out, and no other request followed.
                (None, Some(starting)) if starting.is_finished() => {
                    current.starting = None;
                    return;
                }
                (None, Some(_)) => Instant::now() + idle_shutdown,
                (None, None) => return,
            }
        };
        // Only a weak reference remains while sleeping, so that the browser can be dropped.
        drop(browser);
        tokio::time::sleep_until(due).await;
    }
}
