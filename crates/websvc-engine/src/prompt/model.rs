//! Converts a prompt to options with a language model.

use std::fmt;
use std::sync::LazyLock;
use std::time::Instant;

use serde_json::Value;
use url::Url;
use websvc_model::{CompletionRequest, Feature, Model, ModelError, ResponseFormat};
use websvc_stage::{Stage, StageTimes};
use websvc_types::job::CrawlParams;
use websvc_types::schema;
use websvc_validate::{Checked, Rejection, check_request, read_request};

use super::PromptOptions;
use super::narrow::{Narrowed, narrowed};
use super::words::{self, Reading};

/// The maximum length of the response.
const MAX_TOKENS: u32 = 1_024;

const INSTRUCTIONS: &str = "You turn a request for a crawl of a web site, in plain words, into options of a crawler. Set \
    an option only if the request asks for it; leave all others out. includePaths and excludePaths are regular \
    expressions (Rust syntax, no look-around) that are searched for in the path of each page, such as \"blog/.*\" for the \
    blog and \"docs/.*\" for the documentation. Do not invent paths that nothing in the request suggests.";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema::request::<CrawlParams>().to_value());

/// The model returned no valid options.
#[derive(Debug)]
pub(super) enum ModelPromptError {
    Model(ModelError),
    /// The options violate rules, even after a second request that describes the violations.
    Rules,
    /// There are no options.
    Empty,
    /// The words of the prompt support none of the options.
    Unsupported,
}

impl fmt::Display for ModelPromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => f.write_str(&error.with_advice()),
            Self::Rules => f.write_str("its response breaks the rules of the options"),
            Self::Empty => f.write_str("it found no options in the prompt"),
            Self::Unsupported => f.write_str("no word of the prompt asks for the options that it set"),
        }
    }
}

/// Requests the options, and once more if they violate rules. Returns those that the words of the prompt support, and what the
/// rules read.
pub(super) async fn read(
    model: &dyn Model,
    stages: &StageTimes,
    url: &Url,
    prompt: &str,
    deadline: Instant,
) -> Result<PromptOptions, ModelPromptError> {
    let mut reading = words::read(prompt);
    if check_request(&reading.params, ()).is_err() {
        reading.params = CrawlParams::default();
    }
    let user_prompt = format!("The crawl begins at {url}\nThe request: {prompt}");
    let rejection = match request_options(model, stages, &user_prompt, &reading, deadline).await? {
        Ok(options) => return Ok(options),
        Err(rejection) => rejection,
    };
    let user_prompt = format!("{user_prompt}\n\nYour last answer broke these rules, correct it: {rejection}");
    let options = request_options(model, stages, &user_prompt, &reading, deadline).await?;
    options.map_err(|_rejection| ModelPromptError::Rules)
}

async fn request_options(
    model: &dyn Model,
    stages: &StageTimes,
    user_prompt: &str,
    reading: &Reading,
    deadline: Instant,
) -> Result<Result<PromptOptions, Rejection>, ModelPromptError> {
    let request = CompletionRequest {
        feature: Feature::Crawl,
        instructions: INSTRUCTIONS,
        user_prompt,
        content: None,
        format: ResponseFormat::Schema(&SCHEMA),
        max_tokens: MAX_TOKENS,
        deadline,
    };
    let completion =
        stages.run(Stage::Model, model.complete(&request)).await.map_err(ModelPromptError::Model)?;
    let json = completion.content.into_json().to_string();
    match read_request::<CrawlParams>(json.as_bytes(), ()) {
        Ok(Checked { plan, mut warnings }) => {
            let params = without_empty(plan);
            if params == CrawlParams::default() {
                return Err(ModelPromptError::Empty);
            }
            let Narrowed { params, dropped } = narrowed(reading, &params);
            if params == CrawlParams::default() {
                return Err(ModelPromptError::Unsupported);
            }
            if !dropped.is_empty() {
                let names = dropped.join(", ");
                warnings.push(format!(
                    "prompt: the language model set {names} otherwise than the words of the prompt, which count"
                ));
            }
            Ok(Ok(PromptOptions { params, warnings }))
        }
        Err(rejection) => Ok(Err(rejection)),
    }
}

/// Removes empty lists of patterns, because models tend to fill in every field.
fn without_empty(params: CrawlParams) -> CrawlParams {
    let non_empty = |patterns: Option<Vec<String>>| patterns.filter(|patterns| !patterns.is_empty());
    CrawlParams {
        include_paths: non_empty(params.include_paths),
        exclude_paths: non_empty(params.exclude_paths),
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

    async fn check(responses: Vec<Value>, expected: Option<CrawlParams>) {
        let call_count = AtomicUsize::new(0);
        let model = FakeModel::new(move |request| {
            let call = call_count.fetch_add(1, Ordering::Relaxed);
            assert_eq!(
                call > 0,
                request.user_prompt.contains("broke these rules"),
                "{}",
                request.user_prompt
            );
            Ok(CompletionContent::Json(responses[call].clone()))
        });
        let url = "http://a.test/".parse().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let found = read(&model, &StageTimes::default(), &url, "the blog", deadline).await;
        assert_eq!(found.ok().map(|options| options.params), expected);
    }

    fn blog() -> CrawlParams {
        CrawlParams { include_paths: Some(vec!["blog/.*".to_owned()]), ..CrawlParams::default() }
    }

    #[tokio::test]
    async fn model_options_are_validated_and_corrected_once() {
        let good = json!({ "includePaths": ["blog/.*"], "excludePaths": [], "limit": null });
        let bad = || json!({ "includePaths": ["(blog"], "limit": 0 });
        check(vec![good.clone()], Some(blog())).await;
        check(vec![bad(), good], Some(blog())).await;
        check(vec![bad(), bad()], None).await;
        check(vec![json!({})], None).await;
        check(vec![json!("no"), json!(["no"])], None).await;
    }
}
