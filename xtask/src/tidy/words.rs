//! Retired words: what the agreed vocabulary replaced ("Names" in docs/contributing.md) must not come back.

use super::rust_text::{Piece, pieces};

/// A word or phrase that is no longer used, and its replacement.
struct Retired {
    phrase: &'static str,
    instead: &'static str,
    /// Beginnings of paths where the word has its ordinary meaning.
    allowed_in: &'static [&'static str],
}

const fn retired(phrase: &'static str, instead: &'static str) -> Retired {
    Retired { phrase, instead, allowed_in: &[] }
}

const ACTOR: &str = "the actor: client, caller, worker, task or host";

const RETIRED: &[Retired] = &[
    retired("whoever", ACTOR),
    retired("somebody", ACTOR),
    retired("anybody", ACTOR),
    retired("nobody", ACTOR),
    retired("those who", ACTOR),
    retired("amiss", "\"error\""),
    retired("anew", "\"again\""),
    retired("at one time", "\"concurrently\" or \"at a time\""),
    retired("be had", "\"available\" or \"fetched\""),
    retired("beside", "\"next to\", \"with\" or \"in addition to\""),
    retired("boarded", "\"joined\""),
    retired("ceiling", "\"maximum\""),
    retired("desk", "\"admission\" or \"queue\""),
    retired("detour", "\"tunnel\""),
    // Operators of PDF draw.
    Retired { allowed_in: &["crates/websvc-documents/"], ..retired("drawn", "\"rendered\"") },
    retired("errand", "\"fetch\""),
    retired("farewell", "\"close reason\""),
    retired("habit", "\"policy\""),
    retired("in work", "\"in flight\""),
    retired("landed", "\"fetched\""),
    retired("lend", "\"lease\""),
    retired("lent", "\"leased\""),
    retired("mend", "\"fix\""),
    retired("mended", "\"fixed\""),
    retired("noted", "\"recorded\""),
    retired("recognise", "\"recognize\""),
    retired("shelf", "\"cache\""),
    retired("survey", "\"scan\""),
    retired("takings", "\"artifacts\""),
    // The vocabulary of redaction contains words of pages.
    Retired {
        allowed_in: &["crates/websvc-redact/src/"],
        ..retired("told", "\"sent\", \"reported\" or \"notified\"")
    },
    retired("turned away", "\"rejected\""),
    retired("undrawn", "\"not rendered\""),
];

/// First words of doc comments that leave out the noun they speak of.
const RELATIVE_STARTS: &[&str] = &["What", "Whether", "Who", "Where"];

/// Files that quote retired words: the list itself, the rules about them, and the history.
const QUOTING: &[&str] = &["xtask/src/tidy/words.rs", "docs/contributing.md", "docs/changelog.md"];

/// Adds a violation for each retired word of a Rust file or a page of the manual.
pub(super) fn check(name: &str, text: &str, violations: &mut Vec<String>) {
    if QUOTING.contains(&name) {
        return;
    }
    if name.ends_with(".rs") {
        check_rust(name, text, violations);
    } else if name.ends_with(".md") && (name.starts_with("docs/") || !name.contains('/')) {
        for (number, line) in (1..).zip(text.lines()) {
            check_line(name, number, line, violations);
        }
    }
}

fn check_rust(name: &str, text: &str, violations: &mut Vec<String>) {
    // Texts of tests quote pages and people; texts of the program are for users.
    let has_user_texts = name.contains("/src/") && !name.ends_with("tests.rs");
    let mut is_in_docs = false;
    for Piece { line, kind, text } in pieces(text) {
        if !kind.is_string() || has_user_texts {
            check_line(name, line, text, violations);
        }
        if kind.is_doc_comment() {
            if !is_in_docs {
                check_doc_start(name, line, text, violations);
            }
            is_in_docs = true;
        } else if !text.trim().is_empty() {
            is_in_docs = false;
        }
    }
}

fn check_doc_start(name: &str, number: usize, text: &str, violations: &mut Vec<String>) {
    let sentence = text.trim_start_matches(['/', '!', ' ']);
    let first = sentence.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if RELATIVE_STARTS.contains(&first) {
        violations.push(format!(
            "{name}:{number}: a doc comment begins with what the item is or does, not with \"{first}\""
        ));
    }
}

fn check_line(name: &str, number: usize, line: &str, violations: &mut Vec<String>) {
    let lower = line.to_lowercase();
    for Retired { phrase, instead, allowed_in } in RETIRED {
        if !allowed_in.iter().any(|path| name.starts_with(path)) && has_phrase(&lower, phrase) {
            violations.push(format!("{name}:{number}: \"{phrase}\" is retired; use {instead}"));
        }
    }
    if let Some(found) = denied_noun(&lower) {
        violations.push(format!(
            "{name}:{number}: \"{found}\" is not English here; use \"is not a\" or \"is not\""
        ));
    }
}

/// Returns whether the line contains the words of `phrase` in a row; underscores separate words as spaces do.
fn has_phrase(line: &str, phrase: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric();
    let line = line.replace('_', " ");
    line.match_indices(phrase)
        .any(|(at, _)| !line[..at].ends_with(is_inside) && !line[at + phrase.len()..].starts_with(is_inside))
}

/// Finds "X is no Y", which means "X is not a Y"; "there is no Y" and "is no longer" are fine.
fn denied_noun(line: &str) -> Option<&'static str> {
    const FINE_BEFORE: &[&str] = &["there", "if there", "where there"];
    const FINE_AFTER: &[&str] =
        &["longer", "more", "less", "fewer", "better", "worse", "larger", "smaller", "need", "one"];
    ["is no", "are no"].into_iter().find(|phrase| {
        line.match_indices(phrase).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + phrase.len()..]);
            let next = after.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            before.ends_with(' ')
                && after.starts_with(' ')
                && !FINE_BEFORE.iter().any(|word| before.trim_end().ends_with(word))
                && !FINE_AFTER.contains(&next)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        let mut violations = Vec::new();
        check(name, text, &mut violations);
        violations
    }

    #[test]
    fn retired_word_is_reported_with_its_replacement() {
        let expected = ["crates/a/src/b.rs:2: \"turned away\" is retired; use \"rejected\""];
        assert_eq!(found("crates/a/src/b.rs", "//! Limits.\n// Requests that are turned away.\n"), expected);
        assert_eq!(found("docs/a.md", "It is Told.\n").len(), 1);
    }

    #[test]
    fn parts_of_identifiers_are_words() {
        assert_eq!(found("crates/a/src/b.rs", "fn nobody_waits() {}\n").len(), 1);
        assert_eq!(found("crates/a/src/b.rs", "let in_work = 1;\n").len(), 1);
        assert_eq!(found("crates/a/src/b.rs", "fn untolded() {}\n"), Vec::<String>::new());
    }

    #[test]
    fn strings_are_checked_in_the_program_and_not_in_tests() {
        let text = "fn f() -> &'static str {\n    \"nobody\"\n}\n";
        assert_eq!(found("crates/a/src/b.rs", text).len(), 1);
        assert_eq!(found("crates/a/tests/it/b.rs", text), Vec::<String>::new());
    }

    #[test]
    fn word_with_an_ordinary_meaning_is_allowed_in_its_crate() {
        assert_eq!(
            found("crates/websvc-documents/src/pdf.rs", "// Lines are drawn.\n"),
            Vec::<String>::new()
        );
        assert_eq!(found("crates/websvc-server/src/a.rs", "// Pages are drawn.\n").len(), 1);
    }

    #[test]
    fn doc_comment_must_not_begin_with_a_relative_word() {
        for start in RELATIVE_STARTS {
            let text = format!("/// {start} it is.\n///\n/// What follows is fine.\nstruct A;\n");
            assert_eq!(found("crates/a/src/b.rs", &text).len(), 1, "{start}");
        }
        assert_eq!(found("crates/a/src/b.rs", "/// Whatever.\nstruct A;\n"), Vec::<String>::new());
        assert_eq!(found("crates/a/src/b.rs", "// What is this?\n"), Vec::<String>::new());
    }

    #[test]
    fn denied_noun_is_told_from_absence() {
        for line in ["the text is no URL", "these are no gzip data"] {
            assert!(denied_noun(line).is_some(), "{line}");
        }
        for line in ["there is no URL", "it is no longer used", "is not a URL", "this no more", "basis no"] {
            assert!(denied_noun(line).is_none(), "{line}");
        }
    }
}
