//! A prompt to options by a language model.

use std::fmt;
use std::sync::LazyLock;
use std::time::Instant;

use serde_json::Value;
use url::Url;
use websvc_model::{CompletionRequest, Model, ModelError, ResponseFormat};
use websvc_stage::{Stage, StageTimes};
use websvc_types::job::CrawlParams;
use websvc_types::schema;
use websvc_validate::{Checked, Rejection, read_crawl_params};

use super::PromptOptions;

/// The longest answer.
const MAX_TOKENS: u32 = 1_024;

const INSTRUCTIONS: &str = "You turn a request for a crawl of a web site, in plain words, into options of a crawler. Set \
    an option only if the request asks for it; leave all others out. includePaths and excludePaths are regular \
    expressions (Rust syntax, no look-around) that are searched for in the path of each page, such as \"blog/.*\" for the \
    blog and \"docs/.*\" for the documentation. Do not invent paths that nothing in the request suggests.";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema::request::<CrawlParams>().to_value());

/// Why there are no options.
#[derive(Debug)]
pub(super) enum NotUnderstood {
    Model(ModelError),
    /// They break rules, also after these were told.
    Rules,
    /// There are none.
    Empty,
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => write!(f, "{error}"),
            Self::Rules => f.write_str("what it answered breaks the rules of the options"),
            Self::Empty => f.write_str("it found no options in it"),
        }
    }
}

/// Asks for the options, and once more when they break rules.
pub(super) async fn read(
    model: &dyn Model,
    stages: &StageTimes,
    url: &Url,
    prompt: &str,
    deadline: Instant,
) -> Result<PromptOptions, NotUnderstood> {
    let wish = format!("The crawl begins at {url}\nThe request: {prompt}");
    let broken = match ask(model, stages, &wish, deadline).await? {
        Ok(prompted) => return Ok(prompted),
        Err(broken) => broken,
    };
    let wish = format!("{wish}\n\nYour last answer broke these rules, correct it: {broken}");
    ask(model, stages, &wish, deadline).await?.map_err(|_broken| NotUnderstood::Rules)
}

async fn ask(
    model: &dyn Model,
    stages: &StageTimes,
    wish: &str,
    deadline: Instant,
) -> Result<Result<PromptOptions, Rejection>, NotUnderstood> {
    let question = CompletionRequest {
        instructions: INSTRUCTIONS,
        user_prompt: wish,
        content: None,
        format: ResponseFormat::Schema(&SCHEMA),
        max_tokens: MAX_TOKENS,
        deadline,
    };
    let completion =
        stages.run(Stage::Model, model.complete(&question)).await.map_err(NotUnderstood::Model)?;
    let json = completion.content.into_json().to_string();
    match read_crawl_params(json.as_bytes()) {
        Ok(Checked { plan, warnings }) => {
            let params = without_empty(plan);
            if params == CrawlParams::default() {
                return Err(NotUnderstood::Empty);
            }
            Ok(Ok(PromptOptions { params, warnings }))
        }
        Err(rejection) => Ok(Err(rejection)),
    }
}

/// Leaves out lists without patterns: models like to fill in everything.
fn without_empty(params: CrawlParams) -> CrawlParams {
    let some = |patterns: Option<Vec<String>>| patterns.filter(|patterns| !patterns.is_empty());
    CrawlParams {
        include_paths: some(params.include_paths),
        exclude_paths: some(params.exclude_paths),
        ..params
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use serde_json::json;
    use websvc_model::{CompletionContent, FakeModel};

    use super::*;

    async fn check(answers: Vec<Value>, expected: Option<CrawlParams>) {
        let asked = AtomicUsize::new(0);
        let model = FakeModel::new(move |question| {
            let turn = asked.fetch_add(1, Ordering::Relaxed);
            assert_eq!(
                turn > 0,
                question.user_prompt.contains("broke these rules"),
                "{}",
                question.user_prompt
            );
            Ok(CompletionContent::Json(answers[turn].clone()))
        });
        let url = "http://a.test/".parse().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let found = read(&model, &StageTimes::default(), &url, "the blog", deadline).await;
        assert_eq!(found.ok().map(|prompted| prompted.params), expected);
    }

    fn blog() -> CrawlParams {
        CrawlParams { include_paths: Some(vec!["blog/.*".to_owned()]), ..CrawlParams::default() }
    }

    #[tokio::test]
    async fn options_are_checked_and_corrected_once() {
        let good = json!({ "includePaths": ["blog/.*"], "excludePaths": [], "limit": null });
        let bad = || json!({ "includePaths": ["(blog"], "limit": 0 });
        check(vec![good.clone()], Some(blog())).await;
        check(vec![bad(), good], Some(blog())).await;
        check(vec![bad(), bad()], None).await;
        check(vec![json!({})], None).await;
        check(vec![json!("no"), json!(["no"])], None).await;
    }
}
