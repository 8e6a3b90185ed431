//! The prose of the README and of `docs/`: sentences and cells of tables that a reader takes in at once.

/// Maximum number of words of a sentence.
const MAX_WORDS: usize = 40;
/// Maximum number of characters of a cell, without code and the targets of links.
const MAX_CELL: usize = 260;

/// The page that a test writes from a table of cases.
const GENERATED: &str = "docs/conformance.md";

/// Adds a violation for each sentence and each cell that is too long.
pub(super) fn check(name: &str, text: &str, violations: &mut Vec<String>) {
    let is_page = name == "README.md" || (name.starts_with("docs/") && name.ends_with(".md"));
    if !is_page || name == GENERATED {
        return;
    }
    let mut paragraph = Paragraph { name, line: 0, text: String::new() };
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let start = line.trim_start();
        let is_fence = start.starts_with("```") || start.starts_with("~~~");
        is_code ^= is_fence;
        let is_cells = start.starts_with('|');
        let continues = !is_code && !is_fence && !start.is_empty() && !is_cells && !begins_item(start);
        if !continues {
            paragraph.end(violations);
        }
        if is_code || is_fence {
            continue;
        }
        if is_cells {
            check_cells(name, number, start, violations);
        } else if !start.is_empty() {
            paragraph.add(number, start);
        }
    }
    paragraph.end(violations);
}

fn check_cells(name: &str, number: usize, line: &str, violations: &mut Vec<String>) {
    for cell in line.replace("\\|", "").trim_matches('|').split('|') {
        let prose = prose(cell);
        let length = prose.trim().chars().count();
        if length > MAX_CELL {
            violations.push(format!(
                "{name}:{number}: a cell of the table has {length} characters, more than {MAX_CELL}: shorten it, or \
                 write a paragraph"
            ));
        }
        check_sentences(name, number, &prose, violations);
    }
}

fn check_sentences(name: &str, number: usize, prose: &str, violations: &mut Vec<String>) {
    let mut words = 0;
    let mut first = "";
    for word in prose.split_whitespace() {
        if words == 0 {
            first = word;
        }
        words += usize::from(word.contains(char::is_alphanumeric));
        if words == MAX_WORDS + 1 {
            violations.push(format!(
                "{name}:{number}: the sentence that begins with \"{first}\" has more than {MAX_WORDS} words: divide it"
            ));
        }
        if word.ends_with(['.', '!', '?', ':', ';']) {
            words = 0;
        }
    }
}

/// Returns whether a line begins an item of a list.
fn begins_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || line.starts_with("* ") || (rest.len() < line.len() && rest.starts_with(". "))
}

/// Returns a text with one letter for each piece of code, and without the targets of links.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let text: String = parts.map(|(at, part)| if at % 2 == 0 { part } else { "x" }).collect();
    let mut parts = text.split("](");
    let mut prose = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        prose.push(']');
        prose.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    prose
}

/// Lines that belong together.
struct Paragraph<'a> {
    name: &'a str,
    line: usize,
    text: String,
}

impl Paragraph<'_> {
    fn add(&mut self, number: usize, line: &str) {
        if self.text.is_empty() {
            self.line = number;
        }
        self.text.push_str(line);
        self.text.push(' ');
    }

    fn end(&mut self, violations: &mut Vec<String>) {
        check_sentences(self.name, self.line, &prose(&self.text), violations);
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut violations = Vec::new();
        check("docs/a.md", text, &mut violations);
        violations
    }

    #[test]
    fn sentence_of_more_than_forty_words_is_named_where_its_paragraph_begins() {
        let words = |count: usize| "word ".repeat(count);
        assert_eq!(found(&format!("{}end.\n", words(39))), Vec::<String>::new());
        let expected =
            "docs/a.md:2: the sentence that begins with \"word\" has more than 40 words: divide it";
        assert_eq!(found(&format!("\n{}\n{}end.\n", words(20), words(20))), [expected]);
        for divided in [". ", ": ", "\n\n", "\n- ", "\n2. ", "\n```\n"] {
            let text = format!("{}end{divided}{}end\n", words(25), words(25));
            assert_eq!(found(&text), Vec::<String>::new(), "{divided:?}");
        }
        assert_eq!(found(&format!("```\n{}\n```\n", words(50))), Vec::<String>::new());
        assert_eq!(found(&format!("`{}`\n", words(50))), Vec::<String>::new());
    }

    #[test]
    fn long_cell_is_named_without_its_code_and_targets() {
        let cell = |text: &str| format!("| a | {text} |\n");
        let long = "a long. ".repeat(33);
        let expected = "docs/a.md:1: a cell of the table has 263 characters, more than 260: shorten it, or write a \
                        paragraph";
        assert_eq!(found(&cell(&long)), [expected]);
        assert_eq!(found(&cell(&format!("`{long}`"))), Vec::<String>::new());
        assert_eq!(found(&cell(&format!("[a]({})", "b".repeat(300)))), Vec::<String>::new());
    }

    #[test]
    fn only_pages_that_people_write_are_checked() {
        for name in ["docs/conformance.md", "crates/a/README.txt", "xtask/src/a.rs"] {
            let mut violations = Vec::new();
            check(name, &"word ".repeat(50), &mut violations);
            assert_eq!(violations, Vec::<String>::new(), "{name}");
        }
    }
}
