//! A scripted model that answers rightly: it recognizes a task by its prompt or its page, and gives a known value only if the
//! request shows it.

use serde_json::{Map, Value, json};
use websvc_testkit::FakeModel;

use super::page::{CrawlPrompt, DataTask, FormatPage, PageTasks};
use super::verdict::chosen;
use crate::oracle::respond;

/// A scripted model that knows the pages and the prompts.
#[derive(Debug, Clone)]
pub(crate) struct FormatsOracle {
    pub(crate) pages: Vec<FormatPage>,
    pub(crate) prompts: Vec<CrawlPrompt>,
}

/// The parts of a request that the oracle reads.
struct Request<'a> {
    /// The texts of all messages.
    text: String,
    /// The schema of the answer; null for a text.
    schema: &'a Value,
}

impl Request<'_> {
    fn has(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    fn wants(&self, property: &str) -> bool {
        self.schema["properties"].get(property).is_some()
    }

    /// Returns the numbers of the passages that have one of these texts.
    fn passages(&self, texts: &[&String]) -> Vec<u64> {
        let mut numbers = Vec::new();
        let mut number = 0;
        for line in self.text.lines() {
            let own = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            if let Some(found) = own.and_then(|(digits, _)| digits.parse().ok()) {
                number = found;
            }
            let is_named = texts.iter().any(|text| line.contains(text.as_str()));
            if is_named && number > 0 && !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers
    }
}

impl FormatsOracle {
    /// Returns an OpenAI-compatible endpoint of this model.
    pub(crate) fn endpoint(self) -> FakeModel {
        FakeModel::with_responder(move |body| match self.answer(body) {
            Some(answer) => respond(body, &answer),
            None => FakeModel::bad_request("the oracle knows no task with this prompt"),
        })
    }

    /// Returns the answer to the body of a request, as its text; `None` if it is about none of the tasks.
    fn answer(&self, body: &Value) -> Option<String> {
        let schema = &body["response_format"]["json_schema"]["schema"];
        let request = Request { text: FakeModel::prompt_text(body), schema };
        if schema.is_null() {
            return self.text(&request);
        }
        Some(filled(schema, &self.known(&request)?).to_string())
    }

    /// Returns a text: an answer to a question, or a summary.
    fn text(&self, request: &Request<'_>) -> Option<String> {
        let shown = request.text.to_lowercase();
        let asked = self.pages.iter().find(|page| request.has(&page.tasks.question.question));
        if let Some(page) = asked {
            let answer = &page.tasks.question.accepted[0];
            return Some(if shown.contains(answer.as_str()) {
                answer.clone()
            } else {
                "Unknown.".to_owned()
            });
        }
        let page = self.pages.iter().find(|page| request.has(page.title()))?;
        let words =
            page.tasks.summary.iter().filter_map(|words| {
                words.iter().find(|word| shown.contains(word.as_str())).map(String::as_str)
            });
        Some(format!("It is about: {}.", words.collect::<Vec<&str>>().join(", ")))
    }

    /// Returns the values of an answer by a schema.
    fn known(&self, request: &Request<'_>) -> Option<Map<String, Value>> {
        let known = match () {
            () if request.wants("action") => {
                let is_read = request.has("[p1.1]");
                json!({ "why": "The page is read.", "action": if is_read { "done" } else { "impossible" } })
            }
            () if request.wants("passages") => {
                let page = self.pages.iter().find(|page| request.has(&page.tasks.highlights.query))?;
                json!({ "passages": request.passages(&[&page.tasks.highlights.expected]) })
            }
            () if request.wants("boilerplate") => {
                let texts = self.pages.iter().flat_map(|page| &page.tasks.clean.boilerplate);
                json!({ "boilerplate": request.passages(&texts.collect::<Vec<_>>()) })
            }
            () if request.wants("findings") => {
                let texts = self.pages.iter().flat_map(|page| &page.tasks.personal);
                let found = texts.filter(|personal| request.has(&personal.text));
                let finding = |(text, entity): (&String, &String)| json!({ "text": text, "entity": entity });
                let found = found.map(|personal| finding((&personal.text, &personal.entity)));
                json!({ "findings": found.collect::<Vec<Value>>() })
            }
            () if request.wants("meaningful") => self.judgment(request)?,
            () if request.wants("includePaths") => {
                let task = self.prompts.iter().find(|task| request.has(&task.prompt))?;
                return Some(task.options.clone());
            }
            () => self.data(request)?,
        };
        known.as_object().cloned()
    }

    /// Returns the judgment of the change whose new text the request shows.
    fn judgment(&self, request: &Request<'_>) -> Option<Value> {
        let plain = |text: &str| text.replace("<td>", "").replace("</td>", "");
        let page = self.pages.iter().find(|page| request.has(&plain(&page.tasks.change.to)))?;
        let change = &page.tasks.change;
        let listed = json!([{ "type": "changed", "before": plain(&change.from), "after": plain(&change.to), "reason": "It changed." }]);
        Some(json!({
            "reason": "It changed.", "meaningful": change.matters, "confidence": "high",
            "meaningfulChanges": if change.matters { listed } else { json!([]) },
        }))
    }

    /// Returns the data of the task whose prompt the request has.
    fn data(&self, request: &Request<'_>) -> Option<Value> {
        let of_page = |PageTasks { json, extract, agent, .. }: &PageTasks| -> Vec<DataTask> {
            [json, extract].into_iter().chain(agent).cloned().collect()
        };
        let mut tasks = self.pages.iter().flat_map(|page| of_page(&page.tasks));
        let task = tasks.find(|task| request.has(&task.prompt))?;
        Some(shown(&chosen(&task.expected, &Value::Null), &request.text.to_lowercase().replace(',', "")))
    }
}

/// Returns the values that a text in lower case shows; null in place of the others.
fn shown(value: &Value, text: &str) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| (name.clone(), shown(field, text)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.iter().map(|item| shown(item, text)).collect(),
        Value::String(leaf) if !text.contains(&leaf.to_lowercase().replace(',', "")) => Value::Null,
        Value::Number(number) if !text.contains(number.to_string().trim_end_matches(".0")) => Value::Null,
        other => other.clone(),
    }
}

/// Returns values for the properties of a schema: the known ones, and empty ones for the others that are required.
fn filled(schema: &Value, known: &Map<String, Value>) -> Value {
    let is_required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name))
    };
    let mut values = Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        match known.get(name) {
            Some(value) => values.insert(name.clone(), value.clone()),
            None if is_required(name) => values.insert(name.clone(), empty(field)),
            None => None,
        };
    }
    Value::Object(values)
}

/// Returns an empty value of a field of a schema.
fn empty(field: &Value) -> Value {
    let has_type = |name: &str| {
        field["type"] == name || field["type"].as_array().is_some_and(|types| types.contains(&json!(name)))
    };
    match () {
        () if has_type("null") => Value::Null,
        () if field["enum"].is_array() => field["enum"][0].clone(),
        () if has_type("array") => json!([]),
        () if has_type("boolean") => json!(false),
        () if has_type("integer") || has_type("number") => json!(0),
        () if has_type("object") => filled(field, &Map::new()),
        () => json!(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::page::{crawl_prompts, pages};

    fn ask(text: &str, schema: &Value) -> Option<String> {
        let oracle = FormatsOracle { pages: pages(), prompts: crawl_prompts() };
        let mut body = json!({ "messages": [{ "role": "user", "content": text }] });
        if !schema.is_null() {
            body["response_format"] = json!({ "type": "json_schema", "json_schema": { "schema": schema } });
        }
        oracle.answer(&body)
    }

    #[test]
    fn values_that_are_not_shown_are_not_known() {
        for page in pages() {
            let PageTasks { json: task, question, .. } = &page.tasks;
            let answer = ask(&task.prompt, &task.schema).unwrap();
            let answer: Value = serde_json::from_str(&answer).unwrap();
            for leaf in crate::score::leaves(&answer) {
                assert!(
                    leaf.is_boolean() || task.prompt.contains(&leaf.to_string()),
                    "{}: {leaf}",
                    page.name
                );
            }
            assert_eq!(ask(&question.question, &Value::Null).as_deref(), Some("Unknown."), "{}", page.name);
        }
    }

    #[test]
    fn shown_values_are_known() {
        for page in pages() {
            let task = &page.tasks.json;
            let answer = ask(&format!("{}\n{}", task.prompt, page.html), &task.schema).unwrap();
            let data: Value = serde_json::from_str(&answer).unwrap();
            let checks = crate::formats::verdict::data(task, &data);
            assert!(checks[0].is_right, "{}: {data}", page.name);
        }
    }

    #[test]
    fn passages_are_named_by_number() {
        let schema = json!({ "properties": { "passages": { "type": "array" } } });
        let text = "The query: where is the entrance\n[1]\n# Contact\n\n[2]\nVisit us. The entrance is in the yard.\n\n[3]\nx";
        assert_eq!(ask(text, &schema).as_deref(), Some(r#"{"passages":[2]}"#));
    }

    #[test]
    fn required_fields_of_a_schema_are_filled() {
        let schema = json!({
            "properties": {
                "reason": { "type": "string" }, "passages": { "type": "array" }, "level": { "enum": ["a", "b"] },
                "note": { "type": ["string", "null"] }, "count": { "type": "integer" }, "is": { "type": "boolean" },
                "inner": { "type": "object", "required": ["x"], "properties": { "x": { "type": "number" } } },
                "optional": { "type": "integer" },
            },
            "required": ["reason", "passages", "level", "note", "count", "is", "inner"],
        });
        let known = json!({ "passages": [2] });
        let expected = json!({
            "reason": "", "passages": [2], "level": "a", "note": null, "count": 0, "is": false, "inner": { "x": 0 },
        });
        assert_eq!(filled(&schema, known.as_object().unwrap()), expected);
    }

    #[test]
    fn other_requests_are_refused() {
        assert_eq!(ask("Write a poem.", &Value::Null), None);
    }
}
