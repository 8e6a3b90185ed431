//! One page, for the tools of MCP.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use url::Url;
use websvc_engine::{PageOutcome, Stages, page_content};
use websvc_stage::Stage;
use websvc_store::UsageRetention;
use websvc_types::{ErrorCode, PageContent, Violation, ViolationCode};
use websvc_validate::{Checked, Retention, read_scrape_options};

use super::search::{files, policy, team};
use crate::authorise::authorise_formats;
use crate::charge::{self, Outcome};
use crate::reply::Failure;
use crate::service::Context;
use crate::trail::Asked;

/// The answer: the content of the page as official clients read it.
#[derive(Debug, Serialize)]
pub(crate) struct Scraped {
    success: bool,
    data: PageContent,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// Answers a request for one page: its `url`, beside the options of scraping.
pub(crate) async fn answer_scrape(
    context: Context<'_>,
    origin: Option<String>,
    mut arguments: Map<String, Value>,
) -> Result<Scraped, Failure> {
    let url = url(arguments.remove("url"))?;
    let rules = policy(context.store, context.caller.as_ref())?;
    let retention = Retention::demanded(&rules);
    let body = Bytes::from(Value::Object(arguments).to_string());
    let decoding = context.admission.decode(body, move |body| read_scrape_options(body, &rules));
    let Checked { plan, mut warnings } = context.engine.stages().run(Stage::Decode, decoding).await?;
    let kept = context.keeps(retention, plan.lockdown());
    let username = plan.audit().map(|audit| audit.username.as_str());
    context.trail.asked(kept, &Asked { username, query: None, urls: &[url.as_str()] });
    authorise_formats(context.caller.as_ref(), plan.formats())?;
    let files = files(&context, retention, origin);
    let hold = charge::hold(&context, context.engine.most_page_credits(&plan)).await?;
    let deadline = context.started + plan.timeout().max(Duration::from_secs(1));
    let done = |status, bill| {
        let query = (kept == UsageRetention::Whole).then(|| url.to_string());
        Outcome { operation: "scrape", status, bill, stages: Stages::default(), query, retention: kept }
    };
    let PageOutcome { page, bill } =
        context.engine.scrape(&url, &plan, team(&context), &files, deadline).await;
    match page {
        Ok(mut page) => {
            charge::settle(&context, hold, done(StatusCode::OK.as_u16(), bill)).await?;
            warnings.append(&mut page.warnings);
            let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
            Ok(Scraped { success: true, data: page_content(page), warning })
        }
        Err(error) => {
            let failure = Failure::from(error);
            charge::settle(&context, hold, done(failure.status(), bill)).await?;
            Err(failure)
        }
    }
}

fn url(given: Option<Value>) -> Result<Url, Failure> {
    let invalid = |code, message: String| {
        let violation = Violation { path: "/url".to_owned(), code, message };
        Failure::invalid(ErrorCode::BadRequest, vec![violation])
    };
    let Some(given) = given else {
        return Err(invalid(ViolationCode::Missing, "url is required".to_owned()));
    };
    let Value::String(text) = given else {
        return Err(invalid(ViolationCode::InvalidType, "url must be a string".to_owned()));
    };
    match Url::parse(text.trim()) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        _ => Err(invalid(
            ViolationCode::InvalidFormat,
            format!("url must be an http or https URL, not {text:?}"),
        )),
    }
}
