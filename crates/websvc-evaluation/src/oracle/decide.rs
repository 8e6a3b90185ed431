//! The decision of a step.

use serde_json::{Map, Value, json};

use super::view::{ListedLink, View};
use super::{found, has_value};
use crate::oracle::rules::name_of;
use crate::task::Task;

/// An action of the agent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decision {
    why: &'static str,
    action: &'static str,
    reference: String,
    text: String,
}

impl Decision {
    fn new(why: &'static str, action: &'static str, reference: &str, text: &str) -> Self {
        Self { why, action, reference: reference.to_owned(), text: text.to_owned() }
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { why, action, reference, text } = self;
        json!({ "why": why, "action": action, "ref": reference, "text": text })
    }
}

/// Decides a step: search, collect what is shown, follow the links of the plan, look for what is missing, and end.
pub(super) fn decide(task: &Task, view: &View<'_>) -> Decision {
    let shown = found(task, view);
    if view.is_last_step {
        return end(view);
    }
    let next = search(task, view)
        .or_else(|| collect(task, view))
        .or_else(|| open_hop(task, view))
        .or_else(|| open_next(task, view))
        .or_else(|| look_for_rest(task, view, &shown));
    next.unwrap_or_else(|| end(view))
}

fn end(view: &View<'_>) -> Decision {
    if view.pages.is_empty() {
        return Decision::new("No page could be read.", "impossible", "", "no page could be read");
    }
    Decision::new("The passages have what there is.", "done", "", "")
}

/// Returns whether an earlier step begins with this action.
fn has_done(view: &View<'_>, action: &str) -> bool {
    view.steps.iter().any(|step| action_of(step).starts_with(action))
}

/// Returns a step without its number.
fn action_of(step: &str) -> &str {
    step.split_once(". ").map_or(step, |(_, action)| action)
}

fn search(task: &Task, view: &View<'_>) -> Option<Decision> {
    let queries = &task.plan.search.0;
    let query = queries.iter().find(|query| !has_done(view, &format!("search {query:?}")))?;
    Some(Decision::new("A page must be found.", "search", "", query))
}

/// Collects a page whose shown passages have values, if the task needs several pages or a list.
fn collect(task: &Task, view: &View<'_>) -> Option<Decision> {
    let plan = &task.plan;
    let needs_draft = !plan.hops.is_empty()
        || plan.next.is_some()
        || view.pages.len() > 1
        || plan.rules.iter().any(|rule| rule.list.is_some());
    if !needs_draft {
        return None;
    }
    for page in view.pages.iter().filter(|page| page.is_kept) {
        let action = format!("collect {}:", page.reference);
        let earlier: Vec<&&str> =
            view.steps.iter().filter(|step| action_of(step).starts_with(&action)).collect();
        let has_rest = earlier.last().is_none_or(|step| step.contains("collect again"));
        let of_page = View {
            pages: vec![page.clone()],
            passages: view.passages.clone(),
            results: Vec::new(),
            links: Vec::new(),
            steps: Vec::new(),
            draft: None,
            ..*view
        };
        let values = found(task, &of_page);
        if has_rest && earlier.len() < 3 && has_more(&values, view.draft.as_ref()) {
            return Some(Decision::new("The page states values.", "collect", &page.reference, ""));
        }
    }
    None
}

/// Returns whether values are not in the draft. A draft that is cut cannot be read; then they count as new.
fn has_more(values: &Map<String, Value>, draft: Option<&Value>) -> bool {
    values.iter().any(|(name, value)| {
        let drafted = draft.map_or(&Value::Null, |draft| &draft[name.as_str()]);
        match (value, drafted) {
            (Value::Array(items), Value::Array(known)) => items.iter().any(|item| !known.contains(item)),
            (_, drafted) => !has_value(drafted),
        }
    })
}

/// Opens the first link of the plan that is not read yet.
fn open_hop(task: &Task, view: &View<'_>) -> Option<Decision> {
    for hop in &task.plan.hops {
        let matches = |text: &str| text.to_lowercase().contains(&hop.to_lowercase());
        if view.pages.iter().any(|page| matches(&page.title) || matches(&page.url)) {
            continue;
        }
        let listed = view.links.iter().chain(&view.results).cloned().chain(links_of_passages(view));
        let links: Vec<ListedLink> =
            listed.filter(|link| matches(&link.text) || matches(&link.url)).collect();
        if let Some(link) =
            links.iter().find(|link| !link.is_read && !has_done(view, &format!("open {}:", link.reference)))
        {
            return Some(Decision::new("This link leads on.", "open", &link.reference, ""));
        }
        // The links of one page are listed at a time.
        let mut pages = view.pages.iter().rev().filter(|page| page.is_kept);
        let unlisted = pages.find(|page| !has_done(view, &format!("links {} {hop:?}", page.reference)));
        if let (true, Some(page)) = (links.is_empty(), unlisted) {
            return Some(Decision::new("The link is not listed.", "links", &page.reference, hop));
        }
    }
    None
}

/// Opens the next page of a list.
fn open_next(task: &Task, view: &View<'_>) -> Option<Decision> {
    let next = task.plan.next.as_ref()?;
    let listed = view.links.iter().cloned().chain(links_of_passages(view));
    let mut unread = listed.filter(|link| link.text.contains(next.as_str()) && !link.is_read);
    let link = unread.find(|link| !has_done(view, &format!("open {}:", link.reference)))?;
    Some(Decision::new("The list continues.", "open", &link.reference, ""))
}

/// Looks for values that are neither in the draft nor shown.
fn look_for_rest(task: &Task, view: &View<'_>, shown: &Map<String, Value>) -> Option<Decision> {
    let is_known = |name: &str| {
        shown.contains_key(name) || view.draft.as_ref().is_some_and(|draft| has_value(&draft[name]))
    };
    let patterns = task.plan.rules.iter().filter(|rule| rule.pattern.is_some());
    if patterns.map(name_of).all(is_known) {
        return None;
    }
    if let Some(words) = &task.plan.find
        && !has_done(view, "find ")
    {
        return Some(Decision::new("The passage is not shown.", "find", "", words));
    }
    let page = view.pages.iter().find(|page| page.is_kept && page.seen < page.passages)?;
    // The service shows further passages each time, or the oracle gives up.
    let earlier =
        view.steps.iter().filter(|step| action_of(step).starts_with(&format!("more {}:", page.reference)));
    (earlier.count() < 8).then(|| Decision::new("The page goes on.", "more", &page.reference, ""))
}

/// Returns the links in the shown passages, `[TEXT](l7)`.
fn links_of_passages(view: &View<'_>) -> Vec<ListedLink> {
    let mut links = Vec::new();
    for (_, text) in &view.passages {
        for (at, _) in text.match_indices("](l") {
            let rest = &text[at + 2..];
            let (Some(end), Some(start)) = (rest.find(')'), text[..at].rfind('[')) else { continue };
            let (reference, text) = (rest[..end].to_owned(), text[start + 1..at].to_owned());
            links.push(ListedLink { reference, text, url: String::new(), is_read: false });
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::tasks;

    fn decision(id: &str, content: &str) -> (String, String, String) {
        let task = tasks().into_iter().find(|task| task.id() == id).unwrap();
        let message = format!(
            "<web-content>\n{content}\n</web-content>\n\nDecide.\n\n## Task\n{}\n\n## Step\nStep 2 of 25. Today is 2026-11-26.",
            task.prompt
        );
        let Decision { why: _, action, reference, text } = decide(&task, &View::read(&message).unwrap());
        (action.to_owned(), reference, text)
    }

    fn check(id: &str, content: &str, (action, reference, text): (&str, &str, &str)) {
        assert_eq!(decision(id, content), (action.to_owned(), reference.to_owned(), text.to_owned()));
    }

    const PAGE: &str =
        "## Pages\np1 Tidewater Museum | http://museum.test/ | 3 passages, first 3 shown, 0 collected\n\n";

    #[test]
    fn links_of_the_plan_are_followed() {
        let task = "fact/museum-ticket";
        let links = format!("## Links\nl4 Plan your visit | http://museum.test/visit\n\n{PAGE}");
        check(task, &links, ("open", "l4", ""));
        check(task, &format!("{PAGE}## Passages\n[p1.2] See [Plan your visit](l9)."), ("open", "l9", ""));
        check(task, PAGE, ("links", "p1", "Plan your visit"));
        check(
            task,
            &format!("{PAGE}## Steps\n1. links p1 \"Plan your visit\": 0 links are listed"),
            ("done", "", ""),
        );
    }

    #[test]
    fn values_are_collected_and_the_rest_is_looked_for() {
        let page = "## Pages\np1 Lamps | http://lamps.test/shop | 9 passages, first 2 shown, 0 collected\n\n";
        let passage = "## Passages\n[p1.1] Lamp Zoe\nPrice: 3.00 EUR\n";
        check("list/lamps", &format!("{page}{passage}"), ("collect", "p1", ""));
        let draft = "## Draft\n{\"lamps\":[{\"name\":\"Zoe\",\"price\":3}]}\n\n";
        let links = "## Links\nl2 Next page | http://lamps.test/shop?page=2\n\n";
        let steps = "\n## Steps\n1. collect p1: 2 values, the draft has changed";
        check("list/lamps", &format!("{draft}{links}{page}{passage}{steps}"), ("open", "l2", ""));
        check("list/lamps", &format!("{draft}{page}{passage}{steps}"), ("done", "", ""));
        check("fact/museum-founder", PAGE, ("done", "", ""));
        let long = PAGE.replace("first 3", "first 1");
        check("fact/museum-founder", &long, ("more", "p1", ""));
    }

    #[test]
    fn searches_come_first_and_a_run_without_pages_is_impossible() {
        check("search/scent-of-a-herb", "", ("search", "", "false tarragon herb scent of leaves"));
        check(
            "none/page-is-gone",
            "## Steps\n0. open http://rowing.test/membership: failed",
            ("impossible", "", "no page could be read"),
        );
    }
}
