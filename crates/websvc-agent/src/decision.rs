//! The answer of a model for one step, and the JSON Schema that constrains it.

use serde_json::Value;
use websvc_model::{cut, one_line};

use crate::page::MAX_URL_BYTES;
use crate::targets::{TargetKind, is_web_url};
use crate::tool::ToolKind;

/// The maximum length of the reason of a step.
pub(crate) const MAX_WHY_CHARS: usize = 300;

/// The maximum length of a reference and of the text in the schema of an answer. Longer ones are read, too.
pub(crate) const MAX_REF_CHARS: usize = 600;
pub(crate) const MAX_SCHEMA_TEXT_CHARS: usize = 1_000;

/// The maximum length of a query, and of other texts of actions.
const MAX_QUERY_CHARS: usize = 300;
const MAX_TEXT_CHARS: usize = 2_000;

/// The decision of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The reason of the step, by the model.
    pub(crate) why: String,
    pub(crate) choice: Choice,
}

/// The choice of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Act(Action),
    Done,
    /// The task cannot or must not be done, for this reason.
    Impossible(String),
    /// An action that is not permitted or not complete.
    Refused(Refusal),
}

/// The reason of a refusal. The model gets it as a text of the service, so it has no text of a page or a model.
pub(crate) type Refusal = &'static str;

/// An action of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    Search(String),
    Map(Reference, String),
    Open(Reference),
    Crawl(Reference),
    Interact(Reference, String),
    Find(String),
    Links(Reference, String),
    More(Reference),
    Collect(Reference),
}

/// A reference to a page or a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    Target(TargetKind, u32),
    /// The number of a page that was read.
    Page(u32),
    Url(String),
}

impl Reference {
    /// Reads a reference such as `r1`, `[l2]`, `p3` or `p3.7`, or a URL with or without `https://`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches(['[', ']', '(', ')', '"', '`', '<', '>', '@', '#']);
        if text.len() > MAX_URL_BYTES {
            return None;
        }
        if let Some(rest) = text.strip_prefix(['r', 'R', 'l', 'L', 'p', 'P']) {
            let number = rest.split('.').next().and_then(|number| number.parse().ok());
            if let Some(number) = number {
                return Some(match text.as_bytes()[0].to_ascii_lowercase() {
                    b'r' => Self::Target(TargetKind::Result, number),
                    b'l' => Self::Target(TargetKind::Link, number),
                    _ => Self::Page(number),
                });
            }
        }
        if is_web_url(text) {
            return Some(Self::Url(text.to_owned()));
        }
        let is_host =
            text.split('/').next().is_some_and(|host| host.contains('.') && !host.contains([' ', ':']));
        let url = format!("https://{text}");
        (is_host && is_web_url(&url)).then_some(Self::Url(url))
    }
}

/// The actions that need a tool.
const TOOL_ACTIONS: &[(&str, ToolKind)] = &[
    ("search", ToolKind::Search),
    ("map", ToolKind::Map),
    ("open", ToolKind::Scrape),
    ("crawl", ToolKind::Crawl),
    ("interact", ToolKind::Interact),
];

/// The other actions that do not end the task.
const MEMORY_ACTIONS: &[&str] = &["find", "links", "more", "collect"];

/// The actions that end the task.
pub(crate) const ENDS: [&str; 2] = ["done", "impossible"];

/// Returns instructions without the lines of the actions that are not offered.
pub(crate) fn offered(all: &str, actions: &[&str]) -> String {
    let is_offered = |line: &&str| {
        let name = line.strip_prefix("- ").and_then(|line| line.split_once(':')).map(|(name, _)| name);
        name.is_none_or(|name| !is_action(name) || actions.contains(&name))
    };
    all.split_inclusive('\n').filter(is_offered).collect()
}

fn is_action(name: &str) -> bool {
    TOOL_ACTIONS.iter().any(|(action, _)| *action == name)
        || MEMORY_ACTIONS.contains(&name)
        || ENDS.contains(&name)
}

impl Decision {
    /// Reads an answer; `None` if it is not one. Servers that do not constrain answers return many spellings, so it is
    /// lenient where the meaning is clear.
    pub(crate) fn read(answer: &Value, tools: &[ToolKind]) -> Option<Self> {
        let answer = answer.as_object()?;
        // A call of a function: the action with an object of the other fields.
        let inner = ["arguments", "parameters", "args"]
            .iter()
            .find_map(|name| answer.get(*name).and_then(Value::as_object));
        let field = |name: &str| match answer.get(name).or_else(|| inner?.get(name)) {
            Some(Value::String(text)) => one_line(text),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => String::new(),
        };
        let mut action = field("action").to_ascii_lowercase();
        if action.is_empty() && inner.is_some() {
            action = field("name").to_ascii_lowercase();
        }
        if action.is_empty() {
            return None;
        }
        let choice = choose(&action, &field("ref"), field("text"), tools);
        Some(Self { why: cut(&field("why"), MAX_WHY_CHARS), choice })
    }
}

fn choose(action: &str, reference: &str, text: String, tools: &[ToolKind]) -> Choice {
    let action = match action {
        "read" | "scrape" | "goto" | "navigate" => "open",
        "finish" | "answer" => "done",
        action => action,
    };
    let tool = TOOL_ACTIONS.iter().find(|(name, _)| *name == action);
    if tool.is_some_and(|(_, tool)| !tools.contains(tool)) {
        return Choice::Refused("this action is not available in this run. Use one of the list.");
    }
    if text.chars().count() > MAX_TEXT_CHARS {
        return Choice::Refused("text is longer than 2000 characters.");
    }
    let target = Reference::parse(reference);
    // Small models put the only argument of an action into either field.
    let only = target.clone().or_else(|| Reference::parse(&text));
    let words = || if text.is_empty() { reference.to_owned() } else { text.clone() };
    let on = |target: Option<Reference>, make: &dyn Fn(Reference) -> Action| match target {
        Some(target) => Choice::Act(make(target)),
        None => Choice::Refused("ref must be a reference of the lists, such as r1, l2 or p3, or a URL."),
    };
    match action {
        "search" | "find" => match words() {
            words if words.is_empty() => Choice::Refused("text must have the words to look for."),
            words if words.chars().count() > MAX_QUERY_CHARS => {
                Choice::Refused("text must have at most 300 characters.")
            }
            words if action == "search" => Choice::Act(Action::Search(words)),
            words => Choice::Act(Action::Find(words)),
        },
        "map" => on(target, &|target| Action::Map(target, cut(&text, MAX_QUERY_CHARS))),
        "open" => on(only, &Action::Open),
        "crawl" => on(only, &Action::Crawl),
        "interact" if text.is_empty() => Choice::Refused("text must have the task on the page."),
        "interact" => on(target, &|target| Action::Interact(target, text.clone())),
        "links" => on(target, &|target| Action::Links(target, cut(&text, MAX_QUERY_CHARS))),
        "more" => on(only, &Action::More),
        "collect" => on(only, &Action::Collect),
        "done" => Choice::Done,
        "impossible" => Choice::Impossible(text),
        _ => Choice::Refused("there is no such action. Use one of the list."),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALL: &[ToolKind] =
        &[ToolKind::Search, ToolKind::Map, ToolKind::Scrape, ToolKind::Crawl, ToolKind::Interact];

    fn read(action: &str, reference: &str, text: &str) -> Choice {
        let answer = json!({ "why": "x", "action": action, "ref": reference, "text": text });
        Decision::read(&answer, ALL).unwrap().choice
    }

    #[test]
    fn answers_become_actions() {
        let check = |(action, reference, text): (&str, &str, &str), expected: Action| {
            assert_eq!(read(action, reference, text), Choice::Act(expected), "{action} {reference} {text}");
        };
        let result = Reference::Target(TargetKind::Result, 1);
        let link = Reference::Target(TargetKind::Link, 12);
        let url = |url: &str| Reference::Url(url.to_owned());
        check(("search", "", "green  tea\n"), Action::Search("green tea".into()));
        check(("Search", "green tea", ""), Action::Search("green tea".into()));
        check(("map", "r1", "prices"), Action::Map(result.clone(), "prices".into()));
        check(("open", "[r1]", ""), Action::Open(result.clone()));
        check(("open", "", "L12"), Action::Open(link.clone()));
        check(("open", "http://a.test/x", ""), Action::Open(url("http://a.test/x")));
        check(("open", "a.test/x", ""), Action::Open(url("https://a.test/x")));
        check(("open", "rust-lang.org", ""), Action::Open(url("https://rust-lang.org")));
        check(("crawl", "r1", ""), Action::Crawl(result.clone()));
        check(("interact", "p2", "press Buy"), Action::Interact(Reference::Page(2), "press Buy".into()));
        check(("find", "", "price"), Action::Find("price".into()));
        check(("links", "p2", ""), Action::Links(Reference::Page(2), String::new()));
        check(("more", "p2.7", ""), Action::More(Reference::Page(2)));
        check(("collect", "p2", ""), Action::Collect(Reference::Page(2)));
        assert_eq!(read("done", "", ""), Choice::Done);
        assert_eq!(read("impossible", "", "no such page"), Choice::Impossible("no such page".into()));
    }

    #[test]
    fn incomplete_actions_are_refused() {
        let check = |(action, reference, text): (&str, &str, &str), words: &str| match read(
            action, reference, text,
        ) {
            Choice::Refused(reason) => assert!(reason.contains(words), "{reason}"),
            choice => panic!("{choice:?}"),
        };
        let long = "x ".repeat(1_500);
        for reference in
            ["", "x", "javascript:alert(1)", "file:///etc/passwd", "r", "r-1", "p99999999999", &long]
        {
            check(("open", reference, ""), "ref must be");
        }
        check(("search", "", ""), "words to look for");
        check(("search", "", &"x".repeat(301)), "300");
        check(("find", "", &"x".repeat(2_001)), "2000");
        check(("interact", "p1", ""), "task on the page");
        check(("eval", "", "fetch('/')"), "no such action");
    }

    #[test]
    fn tools_that_are_not_offered_are_neither_listed_nor_accepted() {
        let tools = &[ToolKind::Scrape];
        let answer = json!({ "action": "search", "text": "tea" });
        let Choice::Refused(reason) = Decision::read(&answer, tools).unwrap().choice else { panic!() };
        assert!(reason.contains("not available"));
        let text = offered("Actions:\n- search: x.\n- open: y.\n- find: z.\n- why is: a\n", &["open"]);
        assert_eq!(text, "Actions:\n- open: y.\n- why is: a\n");
    }

    #[test]
    fn function_call_is_read_as_the_action() {
        let fields = json!({ "ref": "r1", "text": "" });
        let expected = Choice::Act(Action::Open(Reference::Target(TargetKind::Result, 1)));
        for answer in [
            json!({ "name": "open", "arguments": fields }),
            json!({ "action": "open", "args": fields }),
            json!({ "type": "function", "name": "Open", "parameters": fields }),
        ] {
            assert_eq!(Decision::read(&answer, ALL).unwrap().choice, expected, "{answer}");
        }
        for answer in [json!({ "name": "open", "ref": "r1" }), json!({ "arguments": fields })] {
            assert_eq!(Decision::read(&answer, ALL), None, "{answer}");
        }
    }

    #[test]
    fn answer_without_an_action_is_not_a_decision() {
        for answer in [json!(1), json!("open"), json!([]), json!({}), json!({ "action": null, "text": "x" })]
        {
            assert_eq!(Decision::read(&answer, ALL), None, "{answer}");
        }
    }
}
