//! Markdown as its passages: what stands between blank lines, code fences whole.

/// A passage that is longer is several, at the ends of lines.
const PASSAGE_BYTES: usize = 2_000;

/// Splits markdown into passages, which in their order are all of it but the blank lines between them.
pub(super) fn passages(markdown: &str) -> Vec<&str> {
    let (mut passages, mut fence): (Vec<&str>, Option<&str>) = (Vec::new(), None);
    let (mut begin, mut at) = (0, 0);
    let mut take = |from: usize, to: usize| {
        let passage = markdown[from..to].trim_matches(['\n', '\r']);
        if !passage.trim().is_empty() {
            passages.push(passage);
        }
    };
    for line in markdown.split_inclusive('\n') {
        let text = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None | Some(_), _) => {}
        }
        let is_blank = text.is_empty() && fence.is_none();
        if is_blank || at - begin >= PASSAGE_BYTES {
            take(begin, at);
            begin = at;
        }
        at += line.len();
    }
    take(begin, at);
    passages
}

/// Writes passages with their numbers, from 1.
pub(super) fn numbered(passages: &[&str]) -> String {
    let mut text = String::new();
    for (number, passage) in (1..).zip(passages) {
        text.push_str(&format!("[{number}]\n{passage}\n\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_between_blank_lines_and_fences_are_whole() {
        let markdown = "# Tea\n\nGreen\ntea.\n\n\n```\na\n\nb\n```\n\n| a |\n| b |\n";
        assert_eq!(passages(markdown), ["# Tea", "Green\ntea.", "```\na\n\nb\n```", "| a |\n| b |"]);
        assert!(passages(" \n\n").is_empty());
        assert_eq!(passages("```\nnever closed\n\nx"), ["```\nnever closed\n\nx"]);
    }

    #[test]
    fn long_passages_are_several() {
        let line = format!("{}\n", "x".repeat(99));
        let found = passages(&line.repeat(50)).len();
        assert_eq!(found, 3);
    }

    #[test]
    fn numbers_begin_at_one() {
        assert_eq!(numbered(&["a", "b"]), "[1]\na\n\n[2]\nb\n\n");
    }
}
