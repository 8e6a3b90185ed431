//! A test message, by which people see whether a channel works.

use serde_json::{Map, Value};
use uuid::Uuid;
use websvc_notify::webhook::{PostError, send_message};
use websvc_notify::{CheckReport, CheckStatus, MonitorPageStatus, PageCounts, PageReport, channel_message};
use websvc_validate::Channel;

use crate::monitors::Monitors;
use crate::time::from_ms;

impl Monitors {
    /// Sends a message about an invented check to a channel, once.
    ///
    /// # Errors
    /// [`PostError`] if the service of the channel did not accept it.
    pub async fn send_test(
        &self,
        channel: &Channel,
        template: Option<&Map<String, Value>>,
    ) -> Result<(), PostError> {
        let report = report(from_ms(self.inner.store.now_ms()));
        let id = format!("test-{}", Uuid::new_v4());
        let message = channel_message(channel, template, &report, &id);
        let message = message.ok_or(PostError::Unreachable("its token cannot be sent in a header"))?;
        let client = self.inner.engine.scraper().client();
        send_message(client, message, self.config().messages.channel_timeout).await.map(drop)
    }
}

fn report(finished_at: jiff::Timestamp) -> CheckReport {
    let diff = "@@ -1,3 +1,3 @@\n # Tea\n \n-Sencha costs 12 euros.\n+Sencha costs 14 euros.\n";
    let page = PageReport {
        url: "https://example.com/".to_owned(),
        title: Some("This is a test: a page that changed".to_owned()),
        status: MonitorPageStatus::Changed,
        judgment: None,
        diff: Some(diff.to_owned()),
        fields: Vec::new(),
        error: None,
    };
    CheckReport {
        monitor_id: Uuid::nil(),
        monitor_name: "Test of websvc".to_owned(),
        check_id: Uuid::nil(),
        status: CheckStatus::Completed,
        finished_at,
        counts: PageCounts { changed: 1, ..PageCounts::default() },
        pages: vec![page],
        error: None,
        dashboard_url: None,
    }
}
