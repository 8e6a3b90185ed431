//! Tabs whose scripts do not end: a page in an endless loop answers no command that its renderer has to handle, so no
//! client could drive the session again.
//!
//! Chromium takes `Runtime.terminateExecution` outside the main thread of a renderer, but only from a protocol session that
//! was attached before the loop. That of websvc is.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::connection::Cdp;

/// The time in which a tab answers that does not run one script for long.
const ANSWER_TIME: Duration = Duration::from_secs(1);
/// The time in which a tab answers after its script was ended.
const END_TIME: Duration = Duration::from_secs(3);
/// The time in which a tab that has answered may start the next endless script.
const RELAPSE_TIME: Duration = Duration::from_millis(200);
/// The number of scripts of a tab that are ended.
const MAX_ENDED_SCRIPTS: usize = 3;

/// Ends the scripts of tabs that do not answer, given the protocol sessions of the tabs. Tabs that answer are left alone.
/// Takes a few seconds at most, also for a tab that never answers.
pub(super) async fn unblock(cdp: &Cdp, sessions: impl Iterator<Item = String>) {
    join_all(sessions.map(|session| async move { unblock_tab(cdp, &session).await })).await;
}

async fn unblock_tab(cdp: &Cdp, session: &str) {
    for _ in 0..MAX_ENDED_SCRIPTS {
        // The main thread of the renderer answers this. A refusal is an answer, too.
        let mut answer = std::pin::pin!(cdp.call(session, "Page.getFrameTree", json!({})));
        if timeout(ANSWER_TIME, &mut answer).await.is_ok() {
            return;
        }
        cdp.send_no_reply(session, "Runtime.terminateExecution", json!({}));
        if timeout(END_TIME, answer).await.is_err() {
            tracing::debug!("a tab of a browser session does not answer");
            return;
        }
        tracing::debug!("an endless script of a browser session was ended");
        sleep(RELAPSE_TIME).await;
    }
    tracing::info!("a tab of a browser session starts endless scripts again and again");
}
