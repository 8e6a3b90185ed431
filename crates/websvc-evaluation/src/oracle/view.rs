//! The parts of a request of the agent, read from its text. The format is that of `websvc-agent/src/prompt.rs`.

use serde_json::Value;

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Step,
    Collect,
    Answer,
}

/// A page that the request lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedPage {
    pub(super) reference: String,
    pub(super) title: String,
    pub(super) url: String,
    pub(super) is_kept: bool,
    pub(super) passages: usize,
    pub(super) seen: usize,
}

/// A result or a link that the request lists, or a link in a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedLink {
    pub(super) reference: String,
    pub(super) text: String,
    pub(super) url: String,
    pub(super) is_read: bool,
}

/// The content of a request.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) kind: RequestKind,
    /// The task in the words of the user, and more sections after it.
    pub(super) task: &'a str,
    pub(super) is_last_step: bool,
    pub(super) draft: Option<Value>,
    pub(super) pages: Vec<ListedPage>,
    pub(super) results: Vec<ListedLink>,
    pub(super) links: Vec<ListedLink>,
    /// The references of pages and the texts of passages.
    pub(super) passages: Vec<(String, String)>,
    /// The earlier steps, such as `3. open l4: read as p2`.
    pub(super) steps: Vec<&'a str>,
}

impl<'a> View<'a> {
    /// Reads the message of the user. `None` if it is not from the agent.
    pub(super) fn read(message: &'a str) -> Option<Self> {
        let (content, prompt) = split_content(message).unwrap_or(("", message));
        // The instructions are between the content and the prompt.
        let (_, task) = prompt.split_once("## Task\n")?;
        let kinds = [
            ("\n## Step\n", RequestKind::Step),
            ("\n## Collect\n", RequestKind::Collect),
            ("\n## Answer\n", RequestKind::Answer),
        ];
        let (at, kind) = kinds
            .into_iter()
            .filter_map(|(mark, kind)| Some((task.rfind(mark)?, kind)))
            .max_by_key(|(at, _)| *at)?;
        let lines = |name: &str| section(content, name).lines().filter(|line| !line.is_empty());
        let mut pages: Vec<ListedPage> = lines("Pages").filter_map(read_page).collect();
        pages.extend(lines("Page").filter_map(read_page));
        Some(Self {
            kind,
            task,
            is_last_step: task[at..].contains("\nThis is the last step"),
            draft: lines("Draft").next().and_then(|line| serde_json::from_str(line).ok()),
            pages,
            results: lines("Results").filter_map(read_link).collect(),
            links: lines("Links").filter_map(read_link).collect(),
            passages: read_passages(section(content, "Passages")),
            steps: lines("Steps").collect(),
        })
    }

    /// Returns the URL and the text of all shown passages of each page, in the order of the pages.
    pub(super) fn texts(&self) -> Vec<(&str, String)> {
        let mut texts: Vec<(&str, String)> = Vec::new();
        for page in &self.pages {
            let of_page = self.passages.iter().filter(|(reference, _)| *reference == page.reference);
            let text: Vec<&str> = of_page.map(|(_, text)| text.as_str()).collect();
            if !text.is_empty() {
                texts.push((&page.url, text.join("\n\n")));
            }
        }
        texts
    }
}

/// Returns the content at the beginning of a message, without its delimiters, and the rest.
fn split_content(message: &str) -> Option<(&str, &str)> {
    let (start, rest) = message.split_once('\n')?;
    let name = start.strip_prefix('<')?.strip_suffix('>')?;
    rest.split_once(&format!("\n</{name}>\n"))
}

/// Returns the text of a section of the content.
fn section<'a>(content: &'a str, name: &str) -> &'a str {
    let head = format!("## {name}\n");
    let start = if content.starts_with(&head) {
        head.len()
    } else {
        match content.find(&format!("\n{head}")) {
            Some(at) => at + 1 + head.len(),
            None => return "",
        }
    };
    let rest = &content[start..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

/// Reads `p1 TITLE | URL | 9 passages, first 4 shown, 0 collected`, or `p1 TITLE | URL`.
fn read_page(line: &str) -> Option<ListedPage> {
    let (reference, rest) = line.split_once(' ')?;
    let parts: Vec<&str> = rest.rsplit(" | ").collect();
    let at = parts.iter().position(|part| part.starts_with("http://") || part.starts_with("https://"))?;
    let state = if at == 0 { "" } else { parts[0] };
    let number = |before: &str| -> usize {
        let words: Vec<&str> = state.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let at = words.iter().position(|word| *word == before);
        at.and_then(|at| words[at.checked_sub(1)?].parse().ok()).unwrap_or_default()
    };
    Some(ListedPage {
        reference: reference.to_owned(),
        title: parts[at + 1..].iter().rev().copied().collect::<Vec<_>>().join(" | "),
        url: parts[at].to_owned(),
        is_kept: !state.contains("no longer"),
        passages: number("passages"),
        seen: number("shown"),
    })
}

/// Reads `l1 [read as p1] TEXT | URL`, with or without a description at the end.
fn read_link(line: &str) -> Option<ListedLink> {
    let (reference, rest) = line.split_once(' ')?;
    let (is_read, rest) = match rest.strip_prefix("[read as p") {
        Some(rest) => (true, rest.split_once("] ").map_or("", |(_, rest)| rest)),
        None => (false, rest),
    };
    let (text, rest) = rest.split_once("| http")?;
    let url = format!("http{}", rest.split(" | ").next().unwrap_or_default());
    Some(ListedLink { reference: reference.to_owned(), text: text.trim().to_owned(), url, is_read })
}

/// Reads `[p1.4] TEXT`, which may have several lines.
fn read_passages(text: &str) -> Vec<(String, String)> {
    let mut passages: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let start =
            line.strip_prefix("[p").and_then(|rest| rest.split_once("] ").or_else(|| rest.split_once(']')));
        let number = start.and_then(|(reference, rest)| Some((reference.split_once('.')?.0, rest)));
        match (number, passages.last_mut()) {
            (Some((page, rest)), _) => passages.push((format!("p{page}"), rest.to_owned())),
            (None, Some((_, passage))) => {
                passage.push('\n');
                passage.push_str(line);
            }
            (None, None) => {}
        }
    }
    passages
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: &str = "<web-content>\n## Draft\n{\"price\":null}\nMissing: price\n\n## Results\nr1 [read as p1] Tea | shop | http://a.test/ | Shop\n\n\
        ## Links\nl1 Next page | http://a.test/2\n\n## Pages\n\
        p1 Tea | shop | http://a.test/ | 9 passages, first 4 shown, 2 collected\np2 Old | http://a.test/old | no longer in memory\n\n\
        ## Passages\n[p1.1] # Tea\nGreen\n[p1.4] It costs 5.\n\n## Steps\n1. open r1: read as p1\n</web-content>\n\n\
        Decide.\n\n## Task\nWhat does it cost?\n\n## Fields\n- price: number\n\n## Step\nStep 3 of 25. Today is 2026-11-26.";

    #[test]
    fn step_is_read() {
        let view = View::read(STEP).unwrap();
        assert_eq!(view.kind, RequestKind::Step);
        assert!(view.task.starts_with("What does it cost?\n"));
        assert!(!view.is_last_step);
        let page = &view.pages[0];
        assert_eq!((page.title.as_str(), page.url.as_str()), ("Tea | shop", "http://a.test/"));
        assert_eq!((page.passages, page.seen, page.is_kept), (9, 4, true));
        assert!(!view.pages[1].is_kept);
        assert!(view.results[0].is_read && view.results[0].url == "http://a.test/");
        assert_eq!(view.links[0].text, "Next page");
        assert_eq!(
            view.passages,
            [("p1".into(), "# Tea\nGreen".into()), ("p1".into(), "It costs 5.\n".trim_end().into())]
        );
        assert_eq!(view.steps, ["1. open r1: read as p1"]);
        assert_eq!(view.texts(), [("http://a.test/", "# Tea\nGreen\n\nIt costs 5.".to_owned())]);
    }

    #[test]
    fn collection_is_read() {
        let text = "<web-content-1>\n## Page\np3 Tea | http://a.test/\n\n## Passages\n[p3.1] a\n</web-content-1>\n\n\
                    Extract.\n\n## Task\nx\n\n## Collect\nExtract.";
        let view = View::read(text).unwrap();
        assert_eq!(view.kind, RequestKind::Collect);
        assert_eq!(view.texts(), [("http://a.test/", "a".to_owned())]);
    }

    #[test]
    fn other_requests_are_not_read() {
        assert!(View::read("Summarize this.").is_none());
    }
}
