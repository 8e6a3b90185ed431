//! The monitors of the SDK: every operation, with a page that changes between two checks.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use firecrawl::{
    Client, CreateMonitorRequest, Monitor, MonitorCheckDetail, MonitorSchedule, UpdateMonitorRequest,
};
use serde_json::{Value, json};

use crate::{Outcome, PAGE, Service, ensure, ensure_failed};

/// Time between two requests for the state of a check.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A page of the site that changes, on a host of its own, so that maps and searches of the other host do not find it.
struct WatchedPage {
    url: String,
    path: PathBuf,
    modified: SystemTime,
}

impl WatchedPage {
    fn new() -> Result<Self, std::env::VarError> {
        let name = format!("watched-{}.html", uuid::Uuid::new_v4());
        let path = PathBuf::from(std::env::var("WEBSVC_SITE")?).join(&name);
        let modified = SystemTime::now() - Duration::from_secs(1000);
        Ok(Self { url: format!("http://lamp.test/{name}"), path, modified })
    }

    /// Writes the page. The server compares times of whole seconds, so each version is ten seconds newer.
    fn write(&mut self, price: u32) -> std::io::Result<()> {
        let html = format!("<title>Lamp</title><main><h1>Lamp</h1><p>It costs {price} euros.</p></main>");
        fs::write(&self.path, html)?;
        self.modified += Duration::from_secs(10);
        File::options().write(true).open(&self.path)?.set_modified(self.modified)
    }
}

/// Runs a check to its end, and returns it with its pages.
async fn run(client: &Client, monitor: &Monitor) -> Result<MonitorCheckDetail, Box<dyn std::error::Error>> {
    let started = client.run_monitor(&monitor.id).await?;
    loop {
        // With one page per request the client has to follow `next`.
        let detail = client.get_monitor_check(&monitor.id, &started.id, Some(1), None, None).await?;
        if !matches!(&*detail.check.status, "queued" | "running") {
            return Ok(detail);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Creates, lists, changes, runs and deletes a monitor.
pub(crate) async fn check(service: &Service) -> Outcome {
    let client = service.client(service.key.as_deref())?;
    let mut page = WatchedPage::new()?;
    // Without a time zone the client sends null.
    let schedule = MonitorSchedule { cron: "0 9 * * 1-5".to_owned(), timezone: None };
    let request = CreateMonitorRequest {
        name: "Lamp".to_owned(),
        schedule,
        targets: vec![json!({ "type": "scrape", "urls": [page.url, PAGE] })],
        webhook: None,
        notification: None,
        retention_days: Some(7),
        goal: None,
        judge_enabled: None,
    };
    let created = client.create_monitor(request.clone()).await?;
    ensure(created.schedule.timezone.as_deref() == Some("UTC") && created.retention_days == 7, &created)?;
    let listed = client.list_monitors(Some(1), Some(0)).await?;
    ensure(listed.len() == 1 && listed[0].id == created.id, &listed)?;
    let change = UpdateMonitorRequest {
        name: Some("Lamps".to_owned()),
        schedule: Some(MonitorSchedule {
            cron: "0 8 * * *".to_owned(),
            timezone: Some("Europe/Berlin".to_owned()),
        }),
        ..UpdateMonitorRequest::default()
    };
    client.update_monitor(&created.id, change).await?;
    let updated = client.get_monitor(&created.id).await?;
    ensure(updated.name == "Lamps" && updated.schedule.cron == "0 8 * * *", &updated)?;
    page.write(12)?;
    let first = run(&client, &created).await?;
    ensure(
        first.check.status == "completed" && first.check.summary.new == 2 && first.pages.len() == 2,
        &first,
    )?;
    page.write(14)?;
    let second = run(&client, &created).await?;
    ensure(second.check.summary.changed == 1 && second.check.summary.same == 1, &second)?;
    let changed =
        client.get_monitor_check_page(&created.id, &second.check.id, Some(1), None, Some("changed")).await?;
    ensure_changed(&changed, &page.url)?;
    let checks = client.list_monitor_checks(&created.id, Some(1), Some(1)).await?;
    ensure(checks.len() == 1 && checks[0].id == first.check.id, &checks)?;
    let pause = UpdateMonitorRequest { status: Some("paused".to_owned()), ..UpdateMonitorRequest::default() };
    client.update_monitor(&created.id, pause).await?;
    ensure_failed(client.run_monitor(&created.id).await, "paused")?;
    let often = MonitorSchedule { cron: "* * * * *".to_owned(), timezone: None };
    ensure_failed(
        client.create_monitor(CreateMonitorRequest { schedule: often, ..request }).await,
        "at least 5 minutes apart",
    )?;
    ensure(client.delete_monitor(&created.id).await?, &"deleted")?;
    ensure_failed(client.get_monitor(&created.id).await, "Monitor not found")
}

/// Checks that the only page of a check is the changed one, with its diff.
fn ensure_changed(check: &MonitorCheckDetail, url: &str) -> Outcome {
    let [page] = &*check.pages else { return ensure(false, check) };
    ensure(page.url == url && page.status == "changed", page)?;
    let Some(diff) = &page.diff else { return ensure(false, page) };
    let text = diff.text.as_deref().unwrap_or_default();
    ensure(text.contains("-It costs 12 euros.\n+It costs 14 euros.\n"), diff)?;
    let files = diff.json.as_ref().and_then(|json| json["files"].as_array().map(Vec::len));
    ensure(files == Some(1), &diff.json.as_ref().unwrap_or(&Value::Null))
}
