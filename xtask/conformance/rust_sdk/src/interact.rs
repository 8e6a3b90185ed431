//! The sessions of scrapes: code, a prompt and the end. The SDK has no other browser sessions.

use firecrawl::{ScrapeExecuteLanguage, ScrapeExecuteOptions};

use crate::{Outcome, PAGE, Service, ensure, ensure_failed};

fn code(code: &str, language: Option<ScrapeExecuteLanguage>) -> ScrapeExecuteOptions {
    ScrapeExecuteOptions { code: Some(code.to_owned()), language, ..ScrapeExecuteOptions::default() }
}

/// Scrapes a page, runs code in it and ends its session.
pub(crate) async fn check(service: &Service) -> Outcome {
    let client = service.client(service.key.as_deref())?;
    let page = client.scrape(PAGE, None).await?;
    let Some(scrape) = page.metadata.as_ref().and_then(|metadata| metadata.scrape_id.clone()) else {
        return ensure(false, &page);
    };
    let prompt = ScrapeExecuteOptions {
        prompt: Some("Click the link oolong".to_owned()),
        ..ScrapeExecuteOptions::default()
    };
    let prompted = client.interact(&scrape, prompt).await;
    let click = if service.has_model {
        let answer = prompted?;
        ensure(answer.output.as_deref() == Some("Oolong"), &answer)?;
        "await page.title()"
    } else {
        ensure_failed(prompted, "no language model is configured")?;
        "await page.getByText('oolong').click(); await page.title()"
    };
    let clicked = client.interact(&scrape, code(click, None)).await?;
    ensure(clicked.success && clicked.result.as_deref() == Some("Oolong"), &clicked)?;
    ensure(clicked.exit_code == Some(0) && clicked.live_view_url.is_some(), &clicked)?;
    let bash = code("agent-browser get url", Some(ScrapeExecuteLanguage::Bash));
    let url = client.interact(&scrape, ScrapeExecuteOptions { timeout: Some(20), ..bash }).await?;
    ensure(url.stdout.as_deref() == Some("http://tea.test/oolong.html\n"), &url)?;
    // The SDK fails for code that fails, with its error.
    ensure_failed(client.interact(&scrape, code("throw new Error('no tea')", None)).await, "no tea")?;
    let stopped = client.stop_interaction(&scrape).await?;
    // A prompt makes each minute of the session more expensive.
    let credits = if service.has_model { 7 } else { 2 };
    ensure(stopped.success && stopped.credits_billed == Some(credits), &stopped)?;
    ensure_failed(client.interact(&scrape, code("1", None)).await, "destroyed")
}
