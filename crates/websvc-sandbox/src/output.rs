//! Text with a maximum size.

use crate::program::MAX_OUTPUT_BYTES;

/// An output of a program. What is longer than the maximum is dropped.
#[derive(Debug, Default)]
pub(crate) struct Output {
    text: String,
    is_cut: bool,
}

impl Output {
    /// Adds text, or the part of it that fits. Returns the part that was added.
    pub(crate) fn push(&mut self, text: &str) -> usize {
        let room = if self.is_cut { 0 } else { MAX_OUTPUT_BYTES - self.text.len() };
        let part = prefix(text, room);
        self.is_cut |= part.len() < text.len();
        self.text.push_str(part);
        part.len()
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// Returns the longest beginning of the text with at most `max` bytes.
fn prefix(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_beyond_the_maximum_is_cut_at_a_character() {
        let mut output = Output::default();
        assert_eq!(output.push(&"a".repeat(MAX_OUTPUT_BYTES - 1)), MAX_OUTPUT_BYTES - 1);
        assert!(!output.is_cut());
        assert_eq!(output.push("é"), 0);
        assert!(output.is_cut());
        assert_eq!(output.push("a"), 0, "nothing follows a cut");
        assert_eq!(output.into_text().len(), MAX_OUTPUT_BYTES - 1);
    }
}
