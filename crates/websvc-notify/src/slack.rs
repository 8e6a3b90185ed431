//! Messages for incoming webhooks of Slack, which Mattermost and others accept too.

use serde_json::{Value, json};

use crate::digest::{DiffMode, Difference, Digest, JudgmentDigest, PageDigest};
use crate::email::{notes, summary};
use crate::report::CheckReport;
use crate::text::clean_line;
use crate::wording::{headline, judged_kind, page_status};

/// Limits of Slack: blocks of a message, characters of a text, characters of a heading.
const MAX_BLOCKS: usize = 50;
const MAX_TEXT_CHARS: usize = 3_000;
const MAX_HEADING_CHARS: usize = 150;

/// Returns the payload of a Slack incoming webhook about a check: `text` for notifications, and `blocks` for the message.
#[must_use]
pub fn slack_payload(report: &CheckReport, diffs: DiffMode) -> Value {
    let digest = Digest::new(report, diffs);
    let headline = headline(report);
    let heading = clean_line(&headline, MAX_HEADING_CHARS);
    let mut blocks =
        vec![json!({"type": "header", "text": {"type": "plain_text", "text": heading, "emoji": false}})];
    let mut intro = SlackText::default();
    intro.push_line(&escape(&summary(report)));
    if let Some(error) = &digest.error {
        intro.push_line(&format!("Error: {}", escape(error)));
    }
    blocks.push(section(&intro));
    let mut outro = SlackText::default();
    for note in notes(&digest) {
        outro.push_line(&escape(&note));
    }
    if let Some(url) = &report.dashboard_url {
        outro.push_line(&link(url.as_str(), "All details"));
    }
    for page in &digest.pages {
        for text in page_texts(page) {
            // One block is for the text at the end.
            if blocks.len() < MAX_BLOCKS - 1 {
                blocks.push(section(&text));
            }
        }
    }
    if !outro.text.is_empty() {
        blocks.push(section(&outro));
    }
    json!({"text": escape(&headline), "blocks": blocks})
}

/// A text within the limit of a block. It grows by whole lines, so that no link or escape is cut in two.
#[derive(Default)]
struct SlackText {
    text: String,
    chars: usize,
}

impl SlackText {
    /// Appends a line. Returns `false`, and leaves it out, if the text would be too long.
    fn push_line(&mut self, line: &str) -> bool {
        let chars = line.chars().count() + 1;
        let is_short = self.chars + chars <= MAX_TEXT_CHARS;
        if is_short {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(line);
            self.chars += chars;
        }
        is_short
    }
}

fn section(text: &SlackText) -> Value {
    json!({"type": "section", "text": {"type": "mrkdwn", "text": text.text}})
}

/// Escapes the characters that begin links and mentions, and the one that begins code.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '`' => escaped.push('\u{2cb}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

fn link(target: &str, text: &str) -> String {
    // The first vertical bar ends the target.
    format!("<{}|{}>", escape(&target.replace('|', "%7C").replace('`', "%60")), escape(text))
}

/// Returns the texts about a page: its name and judgment, and then its differences.
fn page_texts(page: &PageDigest) -> Vec<SlackText> {
    let PageDigest { status, title, url, link: target, judgment, difference, error } = page;
    let name = title.as_deref().unwrap_or(url);
    let linked = target.as_deref().map_or_else(|| escape(name), |target| link(target, name));
    let mut text = SlackText::default();
    let status = page_status(*status);
    if !text.push_line(&format!("*{status}* {linked}")) {
        text.push_line(&format!("*{status}* {}", escape(name)));
    }
    if title.is_some() {
        text.push_line(&escape(url));
    }
    if let Some(error) = error {
        text.push_line(&format!("Error: {}", escape(error)));
    }
    if let Some(judgment) = judgment {
        push_judgment(&mut text, judgment);
    }
    let mut texts = vec![text];
    texts.extend(difference.as_ref().and_then(difference_text));
    texts
}

fn push_judgment(text: &mut SlackText, judgment: &JudgmentDigest) {
    text.push_line(&escape(&judgment.verdict()));
    for change in &judgment.changes {
        let words = crate::email::change_words(change.before.as_deref(), change.after.as_deref());
        let reason = if change.reason.is_empty() { String::new() } else { format!(" ({})", change.reason) };
        text.push_line(&escape(&format!("• {}: {words}{reason}", judged_kind(change.kind))));
    }
}

/// Returns the fields and the diff as code, as far as they fit.
fn difference_text(difference: &Difference) -> Option<SlackText> {
    const FENCE: &str = "```";
    const MORE: &str = "…";
    let Difference { fields, omitted_fields, lines, omitted_lines } = difference;
    let fields = fields.iter().map(|field| format!("{}: {} → {}", field.path, field.previous, field.current));
    let lines = fields.chain(lines.iter().map(|line| line.text.clone()));
    let mut text = SlackText { text: FENCE.to_owned(), chars: 2 * FENCE.len() + MORE.len() + 2 };
    let mut is_complete = *omitted_fields == 0 && *omitted_lines == 0;
    let mut is_empty = true;
    for line in lines {
        is_empty = false;
        if !text.push_line(&escape(&line)) {
            is_complete = false;
            break;
        }
    }
    if !is_complete {
        text.text.push_str(&format!("\n{MORE}"));
    }
    text.text.push_str(&format!("\n{FENCE}"));
    (!is_empty).then_some(text)
}
