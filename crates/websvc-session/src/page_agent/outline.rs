//! The outline of a page, shortened for a model.

use std::collections::HashMap;

use websvc_model::cut;

use crate::page_agent::action::Reference;

/// The maximum length of a part of an outline: about 2,000 tokens.
const PART_CHARS: usize = 6_000;

/// The maximum size of the snapshot that is read. The model could not see more in its steps.
const MAX_SNAPSHOT_BYTES: usize = 200_000;

/// The maximum length of a name and of a value in a line.
const MAX_NAME_CHARS: usize = 120;
const MAX_VALUE_CHARS: usize = 160;

/// The maximum indentation. Deeper levels say little about a page.
const MAX_INDENTATION: usize = 6;

/// An outline in parts, and the elements that it has.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    parts: Vec<String>,
    /// The roles and names of the elements with references.
    labels: HashMap<String, String>,
}

impl Outline {
    /// Reads a snapshot of `agent-browser`.
    pub(crate) fn read(snapshot: &str) -> Self {
        let mut outline = Self { parts: vec![String::new()], labels: HashMap::new() };
        let end = snapshot.floor_char_boundary(MAX_SNAPSHOT_BYTES);
        for line in snapshot[..end].lines() {
            let line = Line::read(line);
            if let Some(reference) = line.reference() {
                outline.labels.insert(reference.to_string(), line.label());
            }
            outline.push(&line.shortened());
        }
        outline
    }

    fn push(&mut self, line: &str) {
        let is_full = self.parts.last().is_none_or(|part| part.len() + line.len() > PART_CHARS);
        if is_full {
            self.parts.push(String::new());
        }
        if let Some(part) = self.parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }

    /// Returns the number of parts, at least 1.
    pub(crate) fn part_count(&self) -> usize {
        self.parts.len().max(1)
    }

    /// Returns a part.
    pub(crate) fn part(&self, index: usize) -> &str {
        self.parts.get(index).map_or("", |part| part.trim_end())
    }

    /// Returns the role and the name of an element; `None` if the outline does not have it.
    pub(crate) fn label(&self, reference: &Reference) -> Option<&str> {
        self.labels.get(&reference.to_string()).map(String::as_str)
    }
}

/// A line of a snapshot: `- button "Buy" [ref=e3] [disabled]`, or `- text: It rains.`
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    indentation: usize,
    role: &'a str,
    /// The name with its quotes.
    name: &'a str,
    /// The reference, the states and the value.
    rest: &'a str,
}

impl<'a> Line<'a> {
    fn read(line: &'a str) -> Self {
        let text = line.trim_start();
        let indentation = (line.len() - text.len()) / 2;
        let text = text.strip_prefix("- ").unwrap_or(text);
        let role_end = text.find([' ', ':']).unwrap_or(text.len());
        let (role, rest) = text.split_at(role_end);
        // Only what follows the quoted name is of the outline: a page could put a reference into a name.
        let name_end = if rest.starts_with(" \"") { quoted_end(rest) } else { 0 };
        let (name, rest) = rest.split_at(name_end);
        Self { indentation, role, name: name.trim_start(), rest }
    }

    fn reference(&self) -> Option<Reference> {
        let (reference, _) = self.rest.strip_prefix(" [ref=")?.split_once(']')?;
        Reference::parse(reference)
    }

    fn label(&self) -> String {
        if self.name.is_empty() {
            self.role.to_owned()
        } else {
            format!("{} {}", self.role, self.short_name())
        }
    }

    fn short_name(&self) -> String {
        if self.name.chars().count() <= MAX_NAME_CHARS {
            return self.name.to_owned();
        }
        format!("{}\"", cut(self.name, MAX_NAME_CHARS))
    }

    fn shortened(&self) -> String {
        let indentation = " ".repeat(self.indentation.min(MAX_INDENTATION));
        let rest = cut(self.rest, MAX_VALUE_CHARS);
        format!("{indentation}- {}{rest}", self.label())
    }
}

/// Returns the end of the quoted text at the start of ` "..."`, or 0 if it has none.
fn quoted_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(2) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, shortened: &str, element: Option<(&str, &str)>) {
        let outline = Outline::read(line);
        assert_eq!(outline.part(0), shortened);
        let found: Vec<(&str, &str)> = outline.labels.iter().map(|(r, l)| (r.as_str(), l.as_str())).collect();
        assert_eq!(found, element.into_iter().collect::<Vec<_>>(), "{line}");
    }

    #[test]
    fn lines_keep_role_name_and_state() {
        check(
            "- button \"Buy\" [ref=e3] [disabled]",
            "- button \"Buy\" [ref=e3] [disabled]",
            Some(("e3", "button \"Buy\"")),
        );
        check("  - textbox [ref=e1]: tea", " - textbox [ref=e1]: tea", Some(("e1", "textbox")));
        check("- text: It rains.", "- text: It rains.", None);
        check(
            "- link \"a \\\" b\" [ref=e2]",
            "- link \"a \\\" b\" [ref=e2]",
            Some(("e2", "link \"a \\\" b\"")),
        );
        check("(empty page)", "- (empty page)", None);
    }

    #[test]
    fn reference_in_a_name_is_not_an_element() {
        let line = r#"- button "Delete [ref=e1]" [ref=e2]"#;
        check(line, line, Some(("e2", "button \"Delete [ref=e1]\"")));
        check("- text: \" [ref=e9]", "- text: \" [ref=e9]", None);
        check("- paragraph: [ref=e9]", "- paragraph: [ref=e9]", None);
    }

    #[test]
    fn long_line_keeps_its_reference() {
        let name = "é".repeat(500);
        let outline = Outline::read(&format!("- link \"{name}\" [ref=e7]: {name}"));
        let line = outline.part(0);
        assert!(line.contains("…\" [ref=e7]: é") && line.chars().count() < 320, "{line}");
    }

    #[test]
    fn long_outline_has_parts() {
        let snapshot: Vec<String> =
            (1..=500).map(|n| format!("- button \"Number {n}\" [ref=e{n}]")).collect();
        let outline = Outline::read(&snapshot.join("\n"));
        let parts: Vec<&str> = (0..outline.part_count()).map(|index| outline.part(index)).collect();
        assert!(parts.len() > 2 && parts.iter().all(|part| part.len() <= PART_CHARS + 1), "{}", parts.len());
        assert_eq!(parts.join("\n"), snapshot.join("\n"));
        assert_eq!((Outline::read("").part_count(), Outline::read("").part(0)), (1, ""));
    }

    #[test]
    fn huge_snapshot_is_read_up_to_its_limit() {
        let line = format!("- text: {}\n", "é".repeat(50));
        let outline = Outline::read(&line.repeat(10_000));
        let size: usize = (0..outline.part_count()).map(|index| outline.part(index).len() + 1).sum();
        assert!(size <= MAX_SNAPSHOT_BYTES + 1 && size > MAX_SNAPSHOT_BYTES - 1_000, "{size}");
    }

    #[test]
    fn deep_lines_are_indented_a_little() {
        assert_eq!(
            Outline::read(&format!("- list\n{}- listitem", "  ".repeat(40))).part(0),
            "- list\n      - listitem"
        );
    }
}
