//! The answer of a model for one step, and the JSON Schema that constrains it.

use serde_json::{Value, json};
use websvc_model::cut;

use crate::page_agent::action::{Action, Direction, KEYS, MAX_WAIT_MS, Reference};

/// The names of the actions, in the order of the instructions.
const ACTIONS: &[&str] = &[
    "click", "hover", "check", "uncheck", "fill", "select", "press", "scroll", "read", "back", "wait", "done",
];

/// The maximum length of a note, and of the reason of a step.
const MAX_NOTE_CHARS: usize = 200;
const MAX_WHY_CHARS: usize = 200;

/// The maximum length of a reference, which is longer than any.
const MAX_REF_CHARS: usize = 20;

/// The maximum length of the text that the schema permits. Grammars of llama.cpp have fewer than 2,000 repetitions.
const MAX_SCHEMA_TEXT_CHARS: usize = 1_900;

/// The length of a choice by which repetitions of it are found.
const MAX_KEY_CHARS: usize = 200;

/// The maximum length of the text of an action.
const MAX_TEXT_CHARS: usize = 4_000;

/// The time of the action `wait` without a number.
const DEFAULT_WAIT_MS: u32 = 1_000;

/// The decision of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// A fact that the model wants to know later.
    pub(crate) note: String,
    pub(crate) choice: Choice,
    /// The action with its reference and its text as the model wrote them, cut.
    pub(crate) key: String,
}

/// The choice of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Act(Action),
    /// Ends the task with an answer.
    Finish(String),
    /// An action that is not permitted or not complete.
    Refused(Refusal),
}

/// The reason of a refusal. The model gets it as a text of the service, so it has no text of a page or a model.
pub(crate) type Refusal = &'static str;

/// Returns the schema of an answer. Models write in its order, so the reason comes before the action. In the last step, only
/// `done` is possible.
pub(crate) fn schema(is_last: bool) -> Value {
    let actions = if is_last { &["done"] } else { ACTIONS };
    json!({
        "type": "object",
        "properties": {
            "why": { "type": "string", "maxLength": MAX_WHY_CHARS },
            "note": { "type": "string", "maxLength": MAX_NOTE_CHARS },
            "action": { "type": "string", "enum": actions },
            "ref": { "type": "string", "maxLength": MAX_REF_CHARS },
            "text": { "type": "string", "maxLength": MAX_SCHEMA_TEXT_CHARS },
        },
        "required": ["why", "note", "action", "ref", "text"],
        "additionalProperties": false,
    })
}

impl Decision {
    /// Reads an answer; `None` if it is not one. Servers that do not constrain answers return many spellings, so it is
    /// lenient where the meaning is clear.
    pub(crate) fn read(answer: &Value) -> Option<Self> {
        let answer = answer.as_object()?;
        let field = |name: &str| match answer.get(name) {
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            Some(value @ (Value::Array(_) | Value::Object(_))) if name == "text" => value.to_string(),
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => String::new(),
        };
        let action = field("action").to_ascii_lowercase();
        if action.is_empty() {
            return None;
        }
        let (note, reference, text) = (cut(&field("note"), MAX_NOTE_CHARS), field("ref"), field("text"));
        let key = cut(&format!("{action} {reference} {text}"), MAX_KEY_CHARS);
        Some(Self { note, choice: choose(&action, &reference, text), key })
    }
}

fn choose(action: &str, reference: &str, text: String) -> Choice {
    let element = Reference::parse(reference);
    let on = |make: fn(Reference) -> Action| match &element {
        Some(element) => Choice::Act(make(element.clone())),
        None => Choice::Refused("ref must be a reference of the outline, such as e5."),
    };
    if action != "done" && text.chars().count() > MAX_TEXT_CHARS {
        return Choice::Refused("text is longer than 4000 characters.");
    }
    match action {
        "click" => on(Action::Click),
        "hover" => on(Action::Hover),
        "check" => on(Action::Check),
        "uncheck" => on(Action::Uncheck),
        "read" => on(Action::Read),
        "fill" | "select" => match element {
            Some(element) if action == "fill" => Choice::Act(Action::Fill(element, text)),
            Some(element) => Choice::Act(Action::Select(element, text)),
            None => Choice::Refused("ref must be a reference of the outline, such as e5."),
        },
        "press" => match KEYS.iter().find(|key| key.eq_ignore_ascii_case(&text)) {
            Some(key) => Choice::Act(Action::Press(key)),
            None => Choice::Refused("press takes one key of the list in text, without modifiers."),
        },
        "scroll" => match text.to_ascii_lowercase().as_str() {
            "down" | "" => Choice::Act(Action::Scroll(Direction::Down)),
            "up" => Choice::Act(Action::Scroll(Direction::Up)),
            _ => Choice::Refused("scroll takes down or up in text."),
        },
        "back" => Choice::Act(Action::Back),
        "wait" if text.is_empty() => Choice::Act(Action::Wait(DEFAULT_WAIT_MS)),
        "wait" => match text.parse::<f64>() {
            Ok(ms) if ms >= 0.0 => Choice::Act(Action::Wait((ms as u32).min(MAX_WAIT_MS))),
            Ok(_) | Err(_) => Choice::Refused("wait takes milliseconds in text, at most 5000."),
        },
        // The grammar has ended the text.
        "done" if text.chars().count() == MAX_SCHEMA_TEXT_CHARS => Choice::Finish(format!("{text}…")),
        "done" => Choice::Finish(text),
        "open" | "goto" | "navigate" => {
            Choice::Refused("open is not available: you cannot enter an address. Use the links of the page.")
        }
        "tab" | "newtab" | "new_tab" => Choice::Refused("tabs are not available: stay on this page."),
        "eval" | "evaluate" | "script" => Choice::Refused("eval is not available: you cannot run scripts."),
        _ => Choice::Refused("there is no such action. Use one of the list."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &Value, expected: Result<&str, &str>) {
        match (Decision::read(answer).unwrap().choice, expected) {
            (Choice::Act(action), Ok(command)) => assert_eq!(action.command(), command, "{answer}"),
            (Choice::Finish(text), Ok(expected)) => assert_eq!(format!("done {text}"), expected, "{answer}"),
            (Choice::Refused(reason), Err(words)) => assert!(reason.contains(words), "{answer}: {reason}"),
            (choice, _) => panic!("{answer}: {choice:?}"),
        }
    }

    #[test]
    fn answers_become_commands() {
        let answer = |action: &str, reference: &str, text: &str| json!({ "note": "", "action": action, "ref": reference, "text": text });
        check(&answer("click", "e3", ""), Ok("click @e3"));
        check(&answer("Click", "[ref=e3]", ""), Ok("click @e3"));
        check(&answer("fill", "@e3", "it's"), Ok(r"fill @e3 'it'\''s'"));
        check(&answer("select", "e3", "Green tea"), Ok("select @e3 'Green tea'"));
        check(&answer("press", "", "enter"), Ok("press Enter"));
        check(&answer("scroll", "", "up"), Ok("scroll up 600"));
        check(&answer("read", "e3", ""), Ok("get text @e3"));
        check(&json!({ "action": "wait", "text": 250 }), Ok("wait 250"));
        check(&answer("wait", "", "99999999999"), Ok("wait 5000"));
        check(&answer("done", "", "It costs 5."), Ok("done It costs 5."));
        check(&json!({ "action": "done", "text": { "price": 5 } }), Ok(r#"done {"price":5}"#));
    }

    #[test]
    fn actions_outside_the_list_are_refused() {
        let answer = |action: &str, text: &str| json!({ "action": action, "ref": "e1", "text": text });
        check(&answer("open", "http://127.0.0.1/"), Err("open is not available"));
        check(&answer("navigate", "http://127.0.0.1/"), Err("open is not available"));
        check(&answer("tab", "new http://127.0.0.1/"), Err("tabs are not available"));
        check(&answer("eval", "fetch('/')"), Err("eval is not available"));
        check(&answer("press", "Control+L"), Err("press takes one key"));
        check(&answer("press", "Enter; open http://127.0.0.1/"), Err("press takes one key"));
        check(&answer("scroll", "down 5; eval 1"), Err("scroll takes down or up"));
        check(&answer("wait", "5; eval 1"), Err("wait takes milliseconds"));
        check(&answer("click @e1 && eval 1", ""), Err("no such action"));
        check(&answer("fill", &"x".repeat(MAX_TEXT_CHARS + 1)), Err("longer than 4000"));
        for reference in ["", "#buy", "e1; eval 1", "text=Buy"] {
            check(&json!({ "action": "click", "ref": reference }), Err("reference of the outline"));
        }
    }

    #[test]
    fn answer_without_an_action_is_not_a_decision() {
        for answer in [json!(1), json!("click"), json!([]), json!({}), json!({ "action": null, "text": "x" })]
        {
            assert_eq!(Decision::read(&answer), None, "{answer}");
        }
    }

    #[test]
    fn last_step_permits_only_its_end() {
        assert_eq!(schema(true)["properties"]["action"]["enum"], json!(["done"]));
        assert_eq!(schema(false)["properties"]["action"]["enum"], json!(ACTIONS));
    }

    #[test]
    fn reason_comes_before_the_action_and_all_texts_are_bounded() {
        let schema = schema(false);
        let properties = schema["properties"].as_object().unwrap();
        let names: Vec<&String> = properties.keys().collect();
        assert_eq!(names, ["why", "note", "action", "ref", "text"]);
        for (name, property) in properties {
            let is_bounded = property["maxLength"].as_u64().is_some_and(|max| max < 2_000);
            assert!(is_bounded || property["enum"].is_array(), "{name}");
        }
    }

    #[test]
    fn answer_that_the_grammar_has_ended_is_marked() {
        let long = json!({ "action": "done", "text": "x".repeat(MAX_SCHEMA_TEXT_CHARS) });
        let Choice::Finish(text) = Decision::read(&long).unwrap().choice else { panic!() };
        assert!(text.ends_with("x…"));
    }
}
