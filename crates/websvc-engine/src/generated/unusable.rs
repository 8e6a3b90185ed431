//! Answers without information, which a small model gives when it does not know what to say.

/// Words for nothing, which are not an answer to a question about a page.
const NOTHING: &[&str] =
    &["null", "none", "nil", "n/a", "na", "undefined", "nan", "empty", "{}", "[]", "...", "-"];

/// The number of words that an echo has besides those of the prompt at most.
const MAX_OTHER_WORDS: usize = 2;

/// Returns why an answer has no information; `None` if it may have some.
pub(super) fn reason(answer: &str, prompt: &str, instructions: &str) -> Option<&'static str> {
    let bare = answer.trim().trim_matches(['"', '\'', '`', '.', '*', ' ', '\n']).to_lowercase();
    if bare.is_empty() || NOTHING.contains(&bare.as_str()) || NOTHING.contains(&answer.trim()) {
        return Some("without any text, or only with a word for nothing");
    }
    let is_echo = |text: &str| is_echo(&words(answer), &words(text));
    (is_echo(prompt) || is_echo(instructions)).then_some("with the request itself")
}

/// Returns whether an answer has the words of a text in their order, and hardly any others.
fn is_echo(answer: &[String], text: &[String]) -> bool {
    let is_short = answer.len() <= text.len() + MAX_OTHER_WORDS;
    !text.is_empty() && is_short && answer.windows(text.len()).any(|part| part == text)
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_without_information_are_recognized() {
        let prompt = "What does a tin cost?";
        for answer in [
            "null",
            "\"null\"",
            "None.",
            "N/A",
            "{}",
            "...",
            "**",
            "What does a tin cost",
            "Q: What does a tin cost?",
        ] {
            assert!(reason(answer, prompt, "Answer briefly.").is_some(), "{answer}");
        }
        assert!(reason("Answer briefly!", prompt, "Answer briefly.").is_some());
        for answer in
            ["12 euros", "No.", "A tin costs 12 euros.", "What does a tin cost? It costs 12 euros.", "0"]
        {
            assert_eq!(reason(answer, prompt, "Answer briefly."), None, "{answer}");
        }
        assert_eq!(reason("tea", "", ""), None);
    }
}
