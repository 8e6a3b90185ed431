//! Changes of a page as lines for a terminal: judgment, changed fields and unified diff.

use serde_json::Value;

use super::text::{page_line, text};
use crate::output::{Colors, Style, one_line, printable};

/// Maximum length of the value of a field in characters. `--json` prints the whole value.
const MAX_VALUE_CHARS: usize = 500;

/// Returns the changes of a page.
pub(in crate::command) fn page_lines(page: &Value, colors: Colors) -> Vec<String> {
    let mut lines = vec![colors.paint(&page_line(page), Style::Bold)];
    // The changes that matter for the goal. The line of the page has the judgment itself.
    let changes = page["judgment"]["meaningfulChanges"].as_array();
    lines.extend(changes.into_iter().flatten().map(change_line));
    for (path, change) in page["diff"]["json"].as_object().into_iter().flatten() {
        lines.extend(field_lines(path, change, colors));
    }
    lines.extend(page["diff"]["text"].as_str().into_iter().flat_map(|text| diff_lines(text, colors)));
    lines
}

fn change_line(change: &Value) -> String {
    let line = |value: &Value| Some(one_line(value.as_str()?, MAX_VALUE_CHARS));
    let texts: Vec<String> = [&change["before"], &change["after"]].into_iter().filter_map(line).collect();
    let reason = line(&change["reason"]).unwrap_or_default();
    format!("  {}: {} ({reason})", text(&change["type"]), texts.join(" -> "))
}

/// Returns the change of a field. The parsed diff of a text, which is a list, has no lines: the text has them.
fn field_lines(path: &str, change: &Value, colors: Colors) -> Vec<String> {
    let Some(change) = change.as_object() else { return Vec::new() };
    let mut lines = vec![printable(path)];
    for (name, sign, style) in [("previous", '-', Style::Removed), ("current", '+', Style::Added)] {
        // A field that was added or removed has no other value.
        if let Some(value) = change.get(name).filter(|value| !value.is_null()) {
            let value = one_line(&value.to_string(), MAX_VALUE_CHARS);
            lines.push(colors.paint(&format!("{sign}{value}"), style));
        }
    }
    lines
}

/// Returns the lines of a unified diff.
fn diff_lines(text: &str, colors: Colors) -> Vec<String> {
    let mut is_header = true;
    let line = |line: &str| {
        is_header &= !line.starts_with("@@");
        let style = match line.chars().next() {
            // The lines `---` and `+++` of the header name the versions.
            _ if is_header => Some(Style::Dim),
            Some('@') => Some(Style::Link),
            Some('+') => Some(Style::Added),
            Some('-') => Some(Style::Removed),
            Some(_) | None => None,
        };
        let line = printable(line);
        style.map_or_else(|| line.clone(), |style| colors.paint(&line, style))
    };
    text.split('\n').map(line).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DIFF: &str = "--- previous.md\n+++ current.md\n@@ -1,3 +1,3 @@\n # Tea\n-Sencha 12\n+Sencha 14\u{1b}]0;x\u{7}\n--- x\n";

    /// Returns a changed page with these fields.
    fn page(fields: &Value) -> Value {
        let mut page = json!({
            "id": "1", "targetId": "2", "url": "http://tea.test/\u{9b}31m", "status": "changed",
            "previousScrapeId": null, "currentScrapeId": null, "statusCode": 200, "error": null, "metadata": null,
            "diff": null, "judgment": null, "createdAt": "2026-11-25T19:00:00.000Z",
        });
        for (name, value) in fields.as_object().unwrap() {
            page[name] = value.clone();
        }
        page
    }

    #[test]
    fn changed_lines_are_green_and_red_and_cannot_control_the_terminal() {
        let page = page(&json!({ "diff": { "text": DIFF, "json": { "files": [] } } }));
        let plain = [
            "changed  http://tea.test/31m",
            "--- previous.md",
            "+++ current.md",
            "@@ -1,3 +1,3 @@",
            " # Tea",
            "-Sencha 12",
            "+Sencha 14]0;x",
            "--- x",
        ];
        assert_eq!(page_lines(&page, Colors::Off), plain);
        let styles = ["1", "2", "2", "36", "", "31", "32", "31"];
        let styled = plain.iter().zip(styles).map(|(line, style)| match style {
            "" => (*line).to_owned(),
            style => format!("\u{1b}[{style}m{line}\u{1b}[0m"),
        });
        assert_eq!(page_lines(&page, Colors::On), styled.collect::<Vec<_>>());
    }

    #[test]
    fn changed_fields_have_both_values() {
        let fields = json!({
            "price": { "previous": "12\u{202e}\n€", "current": 14 },
            "stock": { "previous": null, "current": { "berlin": true } },
        });
        let lines = page_lines(&page(&json!({ "diff": { "json": fields } })), Colors::Off);
        let expected = ["price", "-\"12\\n€\"", "+14", "stock", "+{\"berlin\":true}"];
        assert_eq!(lines[1..], expected);
    }

    #[test]
    fn long_values_are_cut() {
        let fields = json!({ "text": { "previous": "é".repeat(600), "current": null } });
        let lines = page_lines(&page(&json!({ "diff": { "json": fields } })), Colors::Off);
        assert_eq!(lines[2], format!("-\"{}...", "é".repeat(MAX_VALUE_CHARS - 1)));
    }

    #[test]
    fn judgment_has_its_reason_and_the_changes_that_matter() {
        let change = json!({ "type": "changed", "before": "12", "after": "1\n4", "reason": "dearer" });
        let judgment = json!({
            "meaningful": true, "confidence": "high", "reason": "A\u{1b}[2J price\nchanged",
            "meaningfulChanges": [change],
        });
        let lines = page_lines(&page(&json!({ "judgment": judgment })), Colors::Off);
        assert_eq!(
            lines,
            [
                "changed  http://tea.test/31m  meaningful (high confidence): A[2J price changed",
                "  changed: 12 -> 1 4 (dearer)",
            ]
        );
    }
}
