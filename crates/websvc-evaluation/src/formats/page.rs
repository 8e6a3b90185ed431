//! The pages and the prompts of crawls, with the known answers of each feature.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::task::expand;

/// The host of the pages.
const HOST: &str = "http://ten.test";

/// A page with its tasks.
#[derive(Debug, Clone)]
pub(crate) struct FormatPage {
    pub(crate) name: &'static str,
    pub(crate) html: &'static str,
    pub(crate) tasks: PageTasks,
}

/// The tasks about a page, as its file has them.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PageTasks {
    pub(crate) json: DataTask,
    pub(crate) extract: DataTask,
    pub(crate) question: Question,
    /// The summary has a word of each list.
    pub(crate) summary: Vec<Vec<String>>,
    pub(crate) highlights: Highlight,
    pub(crate) clean: Cleaning,
    /// Personal data of the page.
    #[serde(default)]
    pub(crate) personal: Vec<PersonalText>,
    /// Texts that are not personal data.
    pub(crate) harmless: Vec<String>,
    pub(crate) change: Change,
    /// The task of an agent run that begins with the page.
    pub(crate) agent: Option<DataTask>,
}

/// A prompt with the schema and the values of its data.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataTask {
    pub(crate) prompt: String,
    #[serde(deserialize_with = "read_schema")]
    pub(crate) schema: Value,
    /// A field may be an object `{"oneOf": […]}` of values that are right.
    pub(crate) expected: Value,
}

/// A question with texts of right and wrong answers, in lower case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    pub(crate) question: String,
    /// The answer has one of these.
    pub(crate) accepted: Vec<String>,
    /// The answer has none of these.
    pub(crate) refused: Vec<String>,
}

/// A query with the text that answers it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Highlight {
    pub(crate) query: String,
    pub(crate) expected: String,
}

/// Texts that `onlyCleanContent` keeps, and texts that it removes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cleaning {
    pub(crate) kept: Vec<String>,
    pub(crate) boilerplate: Vec<String>,
}

/// A piece of personal data.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonalText {
    pub(crate) text: String,
    pub(crate) entity: String,
}

/// A change of the page between two checks of a monitor.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    pub(crate) from: String,
    pub(crate) to: String,
    /// True if the change matters for the goal of the monitor.
    pub(crate) matters: bool,
}

/// A prompt of a crawl with its options.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CrawlPrompt {
    pub(crate) prompt: String,
    /// Options that say what the prompt says. Other patterns are right, too, if they select the same paths.
    pub(crate) options: Map<String, Value>,
    /// Names of options that may have any value.
    #[serde(default)]
    pub(crate) free: Vec<String>,
    /// Paths that the options select.
    pub(crate) visited: Vec<String>,
    /// Paths that the options do not select.
    pub(crate) left: Vec<String>,
}

impl FormatPage {
    /// Returns the URL.
    pub(crate) fn url(&self) -> String {
        format!("{HOST}/{}", self.name)
    }

    /// Returns the title.
    pub(crate) fn title(&self) -> &str {
        let rest = self.html.split_once("<title>").map_or("", |(_, rest)| rest);
        rest.split_once("</title>").map_or("", |(title, _)| title)
    }

    /// Returns the HTML after the change.
    pub(crate) fn changed_html(&self) -> String {
        let Change { from, to, matters: _ } = &self.tasks.change;
        self.html.replacen(from.as_str(), to, 1)
    }
}

fn read_schema<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Ok(expand(&Value::deserialize(deserializer)?))
}

/// Returns the pages.
///
/// # Panics
/// If a file of tasks is invalid, which a test of this crate excludes.
pub(crate) fn pages() -> Vec<FormatPage> {
    macro_rules! page {
        ($name:literal) => {
            (
                $name,
                include_str!(concat!("../../formats/", $name, ".html")),
                include_str!(concat!("../../formats/", $name, ".json")),
            )
        };
    }
    let files = [
        page!("product"),
        page!("recipe"),
        page!("event"),
        page!("job"),
        page!("contact"),
        page!("article"),
        page!("docs"),
        page!("prices"),
        page!("faq"),
        page!("changelog"),
    ];
    let read = |(name, html, tasks)| FormatPage { name, html, tasks: read_file(name, tasks) };
    files.into_iter().map(read).collect()
}

/// Returns the prompts of crawls.
///
/// # Panics
/// As [`pages`].
pub(crate) fn crawl_prompts() -> Vec<CrawlPrompt> {
    read_file("crawl", include_str!("../../formats/crawl.json"))
}

fn read_file<T: for<'de> Deserialize<'de>>(name: &str, text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("formats/{name}.json: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::leaves;

    #[test]
    fn every_answer_is_on_its_page() {
        let pages = pages();
        assert_eq!((pages.len(), crawl_prompts().len()), (10, 10));
        for FormatPage { name, html, tasks } in &pages {
            let PageTasks { highlights, clean, personal, harmless, change, .. } = tasks;
            let texts = [&highlights.expected, &change.from].into_iter();
            let texts = texts.chain(&clean.kept).chain(&clean.boilerplate).chain(harmless);
            for text in texts.chain(personal.iter().map(|text| &text.text)) {
                assert!(html.contains(text.as_str()), "{name}: {text}");
            }
            assert!(!html.contains(&change.to), "{name}: {}", change.to);
            for data in [&tasks.json, &tasks.extract].into_iter().chain(&tasks.agent) {
                let digits = |text: &str| text.replace([',', '"'], "").replace(".0", "");
                let has = |leaf: &&Value| digits(html).contains(&digits(&leaf.to_string()));
                let stated = leaves(&data.expected).into_iter().filter(|leaf| !leaf.is_boolean());
                assert!(stated.filter(has).count() > 0, "{name}: {}", data.prompt);
            }
        }
    }

    #[test]
    fn half_of_the_changes_matter() {
        let count = pages().iter().filter(|page| page.tasks.change.matters).count();
        assert_eq!(count, 5);
    }

    #[test]
    fn prompts_and_queries_are_unique() {
        let pages = pages();
        let mut texts: Vec<&str> = Vec::new();
        for FormatPage { tasks, .. } in &pages {
            texts.extend([&tasks.question.question, &tasks.highlights.query].map(String::as_str));
            let data = [&tasks.json, &tasks.extract].into_iter().chain(&tasks.agent);
            texts.extend(data.map(|task| task.prompt.as_str()));
        }
        let count = texts.len();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), count, "the oracle recognizes a task by its prompt");
    }
}
