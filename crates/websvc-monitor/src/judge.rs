//! Judges by the goal of a monitor whether changes matter, with the language model (operations.md, section 3.7).
//!
//! Diffs and pages are content of other people, so they are data for the model and never instructions. A judgment that
//! fails counts as meaningful: no alert is lost.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use websvc_model::{CompletionRequest, Feature, Model, ModelError, ResponseFormat};
use websvc_types::monitor::{
    MeaningfulChange, MeaningfulChangeKind, MonitorConfidence, MonitorJudgment, MonitorSearchStatus,
};

/// Maximum length of a judgment, in tokens of the model.
const MAX_TOKENS: u32 = 1_500;

/// Maximum number of changes in a judgment, and of characters of each of its texts.
const MAX_CHANGES: usize = 20;
const MAX_TEXT_CHARS: usize = 2_000;

/// Maximum number of characters of a text in the schemas: an answer of [`MAX_TOKENS`] has space for the whole judgment.
const MAX_REASON_CHARS: usize = 400;
const MAX_CHANGE_CHARS: usize = 300;

const CHANGES: &str = "You decide whether the changes of a web page matter for the goal of a person who watches it. The \
    content is a diff: lines with + were added, lines with - were removed. Decide by the goal alone. Changes of layout, \
    wording, dates or counters do not matter unless the goal says so. List only the changes that matter.";

const RESULT: &str = "You decide whether a web page that a search found is worth an alert for the goal of a person. Answer \
    `alert` if the page reports what the goal asks for, `watch` if it may do so later, and `ignore` if it does not.";

/// Returns the judgment of a changed page, or the reason why there is none. Until the deadline it waits for a place of the
/// model, whose own time for a request begins after that.
pub(crate) async fn judge_changes(
    model: &dyn Model,
    goal: &str,
    diff: &str,
    deadline: Instant,
) -> Result<MonitorJudgment, String> {
    let Answer { content: answer, is_content_truncated } =
        complete::<ChangesAnswer>(model, CHANGES, goal, diff, &changes_schema(), deadline).await?;
    if is_content_truncated && !answer.meaningful {
        // The part that the model did not read may matter.
        return Ok(undecided(
            "the model could not read all of them (llm.max_input_chars, llm.context_tokens)",
        ));
    }
    Ok(answer.into_judgment())
}

/// A decision about a search result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResultDecision {
    pub(crate) status: MonitorSearchStatus,
    pub(crate) concept: Option<String>,
    pub(crate) rationale: Option<String>,
    pub(crate) event_key: Option<String>,
}

/// Returns the decision about a search result by its page, or the reason why there is none.
pub(crate) async fn judge_result(
    model: &dyn Model,
    goal: &str,
    page: &str,
    deadline: Instant,
) -> Result<ResultDecision, String> {
    let schema = result_schema();
    // The beginning of a page shows its subject, so a page may be truncated.
    let Answer { content: answer, is_content_truncated: _ } =
        complete::<ResultAnswer>(model, RESULT, goal, page, &schema, deadline).await?;
    let text = |text: Option<String>| text.map(bounded).filter(|text| !text.is_empty());
    Ok(ResultDecision {
        status: match answer.decision {
            ResultVerdict::Alert => MonitorSearchStatus::Alert,
            ResultVerdict::Watch => MonitorSearchStatus::Watching,
            ResultVerdict::Ignore => MonitorSearchStatus::Ignored,
        },
        concept: text(answer.concept),
        rationale: text(answer.rationale),
        event_key: text(answer.event_key),
    })
}

/// Returns the judgment of a search result on the wire.
pub(crate) fn result_judgment(decision: &ResultDecision) -> MonitorJudgment {
    MonitorJudgment {
        meaningful: decision.status == MonitorSearchStatus::Alert,
        confidence: MonitorConfidence::High,
        reason: decision.rationale.clone().unwrap_or_default(),
        meaningful_changes: Vec::new(),
        fields: Vec::new(),
    }
}

/// An answer of the model.
struct Answer<T> {
    content: T,
    /// True if the model did not read the end of the content.
    is_content_truncated: bool,
}

/// Sends a request, and returns the answer or the reason why there is none.
async fn complete<T: for<'de> Deserialize<'de>>(
    model: &dyn Model,
    instructions: &str,
    goal: &str,
    content: &str,
    schema: &Value,
    deadline: Instant,
) -> Result<Answer<T>, String> {
    let prompt = format!("The goal: {goal}");
    let request = CompletionRequest {
        feature: Feature::Judge,
        instructions,
        user_prompt: &prompt,
        content: Some(content),
        format: ResponseFormat::Schema(schema),
        max_tokens: MAX_TOKENS,
        deadline,
    };
    let failure = |error: ModelError| format!("the language model failed: {}", error.explanation());
    let completion = model.complete(&request).await.map_err(failure)?;
    let content = completion.content.into_json();
    if !content.is_object() {
        return Err(
            "the answer of the language model does not follow the schema: it is not an object".to_owned()
        );
    }
    let content = serde_json::from_value(content)
        .map_err(|error| format!("the answer of the language model does not follow the schema: {error}"))?;
    Ok(Answer { content, is_content_truncated: completion.is_content_truncated })
}

/// Returns the judgment of changes that could not be judged.
pub(crate) fn undecided(reason: &str) -> MonitorJudgment {
    MonitorJudgment {
        meaningful: true,
        confidence: MonitorConfidence::Low,
        reason: bounded(format!("The changes were not judged: {reason}")),
        meaningful_changes: Vec::new(),
        fields: Vec::new(),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangesAnswer {
    meaningful: bool,
    confidence: MonitorConfidence,
    reason: String,
    #[serde(default)]
    meaningful_changes: Vec<ChangeAnswer>,
}

#[derive(Deserialize)]
struct ChangeAnswer {
    #[serde(rename = "type")]
    kind: MeaningfulChangeKind,
    #[serde(default)]
    before: Option<String>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    reason: String,
}

impl ChangesAnswer {
    fn into_judgment(self) -> MonitorJudgment {
        let Self { meaningful, confidence, reason, meaningful_changes } = self;
        let changes = meaningful_changes.into_iter().take(MAX_CHANGES).map(ChangeAnswer::into_change);
        MonitorJudgment {
            meaningful,
            confidence,
            reason: bounded(reason),
            meaningful_changes: if meaningful { changes.collect() } else { Vec::new() },
            fields: Vec::new(),
        }
    }
}

impl ChangeAnswer {
    fn into_change(self) -> MeaningfulChange {
        let Self { kind, before, after, reason } = self;
        let (before, after) = match kind {
            MeaningfulChangeKind::Added => (None, after),
            MeaningfulChangeKind::Removed => (before, None),
            MeaningfulChangeKind::Changed => (before, after),
        };
        let (before, after) = (before.map(bounded), after.map(bounded));
        MeaningfulChange { kind, before, after, reason: bounded(reason) }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultAnswer {
    decision: ResultVerdict,
    #[serde(default)]
    concept: Option<String>,
    #[serde(default)]
    rationale: Option<String>,
    #[serde(default)]
    event_key: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ResultVerdict {
    Alert,
    Watch,
    Ignore,
}

/// Returns the schema of a judgment. Models write in its order, so the reason comes before the verdict.
fn changes_schema() -> Value {
    let text = json!({ "type": ["string", "null"], "maxLength": MAX_CHANGE_CHARS });
    json!({
        "type": "object",
        "properties": {
            "reason": {
                "type": "string", "maxLength": MAX_REASON_CHARS,
                "description": "What changed, and whether that is what the goal asks for, in one or two sentences",
            },
            "meaningful": { "type": "boolean" },
            "confidence": { "type": "string", "enum": ["high", "medium", "low"] },
            "meaningfulChanges": { "type": "array", "maxItems": MAX_CHANGES, "items": {
                "type": "object",
                "properties": {
                    "before": text,
                    "after": text,
                    "reason": { "type": "string", "maxLength": MAX_CHANGE_CHARS },
                    "type": { "type": "string", "enum": ["added", "removed", "changed"] },
                },
                "required": ["before", "after", "reason", "type"],
                "additionalProperties": false,
            } },
        },
        "required": ["reason", "meaningful", "confidence", "meaningfulChanges"],
        "additionalProperties": false,
    })
}

/// Returns the schema of a decision about a search result, with the reason before the decision.
fn result_schema() -> Value {
    let text = |description: &str, max_chars: usize| json!({ "type": "string", "maxLength": max_chars, "description": description });
    json!({
        "type": "object",
        "properties": {
            "concept": text("The subject of the page, in a few words", 100),
            "rationale": text("What the page reports of the goal, in one sentence", MAX_REASON_CHARS),
            "eventKey": text("A short name of the event that the page reports", 100),
            "decision": { "type": "string", "enum": ["alert", "watch", "ignore"] },
        },
        "required": ["concept", "rationale", "eventKey", "decision"],
        "additionalProperties": false,
    })
}

/// Returns a text of the model within its limit.
fn bounded(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_TEXT_CHARS) {
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use websvc_model::{CompletionContent, FakeModel};

    use super::*;

    fn answering(answer: Value) -> FakeModel {
        FakeModel::new(move |_| Ok(CompletionContent::Json(answer.clone())))
    }

    fn in_a_minute() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[tokio::test]
    async fn judgment_waits_for_the_model_until_its_deadline() {
        let deadline = Instant::now() + Duration::from_secs(600);
        let model = FakeModel::new(move |request| {
            assert_eq!(request.deadline, deadline);
            Err(ModelError::Busy { places: 1 })
        });
        let reason = judge_changes(&model, "prices", "-5\n+6", deadline).await.unwrap_err();
        assert!(reason.contains("not sent: the only place of the model is busy"), "{reason}");
    }

    #[test]
    fn reasons_come_before_verdicts() {
        let names = |schema: Value| -> Vec<String> {
            schema["properties"].as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(names(changes_schema())[..2], ["reason", "meaningful"]);
        assert_eq!(names(result_schema()), ["concept", "rationale", "eventKey", "decision"]);
    }

    #[tokio::test]
    async fn answer_of_the_model_is_the_judgment() {
        let model = FakeModel::new(|request| {
            assert!(request.user_prompt.contains("prices"));
            assert_eq!(request.content, Some("-5\n+6"));
            Ok(CompletionContent::Json(json!({
                "meaningful": true,
                "confidence": "high",
                "reason": "The price rose",
                "meaningfulChanges": [
                    { "type": "added", "before": "5", "after": "6", "reason": "new price" },
                ],
            })))
        });
        let judgment = judge_changes(&model, "prices", "-5\n+6", in_a_minute()).await.unwrap();
        assert!(judgment.meaningful);
        assert_eq!(judgment.confidence, MonitorConfidence::High);
        // An addition has nothing before it.
        assert_eq!(judgment.meaningful_changes[0].before, None);
        assert_eq!(judgment.meaningful_changes[0].after.as_deref(), Some("6"));
    }

    #[tokio::test]
    async fn failure_of_the_model_is_meaningful_with_low_confidence() {
        let model = answering(json!({ "meaningful": "perhaps" }));
        let reason = judge_changes(&model, "prices", "-5\n+6", in_a_minute()).await.unwrap_err();
        let judgment = undecided(&reason);
        assert!(judgment.meaningful);
        assert_eq!(judgment.confidence, MonitorConfidence::Low);
        assert!(judgment.reason.contains("schema"), "{}", judgment.reason);
    }

    #[tokio::test]
    async fn changes_that_the_model_reads_in_part_are_meaningless_only_as_a_whole() {
        let check = async |meaningful: bool, diff: &str, expected: (bool, MonitorConfidence)| {
            let answer = json!({ "meaningful": meaningful, "confidence": "high", "reason": "r" });
            let model = answering(answer).with_max_input_chars(5);
            let judgment = judge_changes(&model, "prices", diff, in_a_minute()).await.unwrap();
            assert_eq!((judgment.meaningful, judgment.confidence), expected, "{diff}");
        };
        check(false, "-5\n+6", (false, MonitorConfidence::High)).await;
        check(false, "-5\n+6\n", (true, MonitorConfidence::Low)).await;
        check(true, "-5\n+6\n", (true, MonitorConfidence::High)).await;
    }

    #[tokio::test]
    async fn decision_about_a_result_is_read() {
        let model =
            answering(json!({ "decision": "watch", "concept": "tea", "rationale": "", "eventKey": "k" }));
        let decision = judge_result(&model, "prices", "page", in_a_minute()).await.unwrap();
        assert_eq!(decision.status, MonitorSearchStatus::Watching);
        assert_eq!((decision.concept.as_deref(), decision.rationale), (Some("tea"), None));
        for other in [json!(1), json!(["watch", "tea", "", "k"])] {
            assert!(judge_result(&answering(other), "prices", "page", in_a_minute()).await.is_err());
        }
    }
}
