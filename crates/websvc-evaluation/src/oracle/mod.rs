//! The oracle: a perfect but honest model. It sees the text of a request and nothing else, and decides by the rules of the
//! task whose prompt the request has. The rules name links and patterns, not values. So it finds a value only in a passage
//! that the service shows.

mod decide;
mod rules;
mod view;

use serde_json::{Map, Value, json};
use websvc_testkit::{FakeModel, Page};

use crate::task::Task;
use decide::decide;
#[cfg(test)]
pub(crate) use rules::rule_text;
use rules::{apply, compare, name_of};
pub(crate) use view::RequestKind;
use view::View;

/// Characters of a token, about, in the usage that the oracle reports.
const TOKEN_CHARS: usize = 4;

/// A perfect but honest model.
#[derive(Debug, Clone)]
pub struct Oracle {
    tasks: Vec<Task>,
}

impl Oracle {
    /// Creates a model that knows the rules of these tasks.
    #[must_use]
    pub fn new(tasks: Vec<Task>) -> Self {
        Self { tasks }
    }

    /// Returns an OpenAI-compatible endpoint of this model.
    #[must_use]
    pub fn endpoint(self) -> FakeModel {
        FakeModel::with_responder(move |body| match self.answer(body) {
            Some(answer) => respond(body, &answer.to_string()),
            None => FakeModel::bad_request("the oracle knows no task with this prompt"),
        })
    }

    /// Returns the answer to the body of a request; `None` if it is not about one of the tasks.
    fn answer(&self, body: &Value) -> Option<Value> {
        let messages = body["messages"].as_array()?;
        let user = messages.iter().rfind(|message| message["role"] == "user")?;
        let view = View::read(user["content"].as_str()?)?;
        // Another prompt may begin with the same words.
        let task = self
            .tasks
            .iter()
            .filter(|task| view.task.starts_with(&task.prompt))
            .max_by_key(|task| task.prompt.len())?;
        Some(match view.kind {
            RequestKind::Step => decide(task, &view).to_json(),
            RequestKind::Collect => complete(task, found(task, &view)),
            RequestKind::Answer => final_answer(task, &view),
        })
    }
}

/// Returns the values that the shown passages state.
fn found(task: &Task, view: &View<'_>) -> Map<String, Value> {
    let mut data = Map::new();
    for (url, text) in view.texts() {
        for (name, value) in apply(&task.plan.rules, task.schema.as_ref(), url, &text) {
            match (data.get_mut(&name), value) {
                (None, value) => {
                    data.insert(name, value);
                }
                (Some(Value::Array(items)), Value::Array(more)) => {
                    let known = items.clone();
                    items.extend(more.into_iter().filter(|item| !known.contains(item)));
                }
                // The first page that states a value counts.
                (Some(_), _) => {}
            }
        }
    }
    data
}

/// Returns the data with nulls and empty lists for the fields without a value.
fn complete(task: &Task, mut data: Map<String, Value>) -> Value {
    let Some(schema) = &task.schema else { return Value::Object(data) };
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let empty = if field["type"] == "array" { json!([]) } else { Value::Null };
        data.entry(name.clone()).or_insert(empty);
    }
    Value::Object(data)
}

/// Returns the values of the draft, those of the passages for fields that the draft does not have, and comparisons.
fn final_answer(task: &Task, view: &View<'_>) -> Value {
    let mut data = found(task, view);
    for (name, value) in view.draft.as_ref().and_then(Value::as_object).into_iter().flatten() {
        if task.plan.rules.iter().any(|rule| name_of(rule) == name) && has_value(value) {
            data.insert(name.clone(), value.clone());
        }
    }
    compare(&task.plan.rules, &mut data);
    complete(task, data)
}

/// Returns whether a value of a draft is neither null nor an empty list.
fn has_value(value: &Value) -> bool {
    !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty())
}

/// Returns a response of `chat/completions` with this text and an estimated usage.
pub(crate) fn respond(body: &Value, text: &str) -> Page {
    let (input, output) =
        (body["messages"].to_string().len() / TOKEN_CHARS, text.len().div_ceil(TOKEN_CHARS));
    let response = json!({
        "id": "chatcmpl-oracle",
        "object": "chat.completion",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output },
    });
    Page::new("application/json", response.to_string())
}

#[cfg(test)]
mod tests {
    use url::Url;
    use websvc_documents::{DocumentKind, Limits, parse};
    use websvc_extract::{ContentOptions, ContentScope, Document, Source};

    use super::*;
    use crate::score::score;
    use crate::sites::Sites;
    use crate::task::tasks;

    /// Returns the markdown of each page that is not written by a script.
    fn pages() -> Vec<(String, String)> {
        let mut pages = Vec::new();
        // As the agent reads pages.
        let options = ContentOptions { scope: ContentScope::Full, ..ContentOptions::default() };
        for source in Sites::new().sources().filter(|source| !source.is_shell) {
            let url = Url::parse(&source.url).unwrap();
            let html = if source.is_pdf {
                parse(DocumentKind::Pdf, source.bytes.clone(), &Limits::default()).unwrap().html.into_bytes()
            } else {
                source.bytes.clone()
            };
            let page = Document::parse(Source {
                bytes: &html,
                content_type: Some("text/html; charset=utf-8"),
                url: &url,
            });
            pages.push((source.url, page.unwrap().content(&options).markdown()));
        }
        pages
    }

    #[test]
    fn rules_find_the_answers_in_the_markdown_of_the_pages() {
        let pages = pages();
        // As the agent shows headings, so that they begin no section.
        let headings = regex::Regex::new("(?m)^#+").unwrap();
        let mut failures = Vec::new();
        for task in tasks().into_iter().filter(|task| !task.needs_browser()) {
            // All pages of the site that the plan reaches.
            let reached = |url: &str| {
                let host = |url: &str| url.split('/').nth(2).unwrap_or_default().to_owned();
                let is_given = task
                    .urls
                    .iter()
                    .any(|given| if task.is_strict { given == url } else { host(given) == host(url) });
                is_given
                    || task.plan.hops.iter().any(|hop| url.contains(hop.as_str()))
                    || (host(url) == "tarn-and-sons.test" && task.name == "maker-of-a-plane")
            };
            let mut text = String::from("<web-content>\n## Pages\n");
            let of_task: Vec<&(String, String)> = pages.iter().filter(|(url, _)| reached(url)).collect();
            for (number, (url, _)) in (1..).zip(&of_task) {
                text.push_str(&format!("p{number} x | {url} | 1 passages, first 1 shown, 0 collected\n"));
            }
            text.push_str("\n## Passages\n");
            for (number, (_, markdown)) in (1..).zip(&of_task) {
                text.push_str(&format!("[p{number}.1] {}\n", headings.replace_all(markdown, "#")));
            }
            text.push_str("</web-content>\n\nExtract.\n\n## Task\nx\n\n## Collect\nx");
            let answer = final_answer(&task, &View::read(&text).unwrap());
            if !score(&task.expected, Some(&answer), task.schema.is_some()).is_perfect() {
                failures.push(format!("{}: {answer}", task.id()));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn values_that_are_not_shown_are_not_known() {
        let oracle = Oracle::new(tasks());
        for task in tasks() {
            let content = format!(
                "<web-content>\n(empty)\n</web-content>\n\nWrite.\n\n## Task\n{}\n\n## Answer\nWrite.",
                task.prompt
            );
            let body = json!({ "messages": [{ "role": "user", "content": content }] });
            let answer = oracle.answer(&body).unwrap();
            assert_eq!(crate::score::leaves(&answer), Vec::<&Value>::new(), "{}", task.id());
        }
    }
}
