//! The token usage of a request.

/// The token usage of a request, as the model reports it; 0 if it does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// The tokens of the request.
    pub input_tokens: u64,
    /// The tokens of the response.
    pub output_tokens: u64,
}

impl Usage {
    /// Returns the tokens of request and response.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Returns the usage with an estimate, from lengths in bytes, in place of what the model does not report.
    #[must_use]
    pub const fn or_estimate(self, request_bytes: usize, response_bytes: usize) -> Self {
        let Self { input_tokens, output_tokens } = self;
        Self {
            input_tokens: if input_tokens == 0 { estimate(request_bytes) } else { input_tokens },
            output_tokens: if output_tokens == 0 { estimate(response_bytes) } else { output_tokens },
        }
    }

    /// Adds the usage of another request.
    pub const fn add(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

/// Returns the number of tokens of a text, as a rule of thumb.
const fn estimate(bytes: usize) -> u64 {
    const BYTES_PER_TOKEN: usize = 4;
    (bytes / BYTES_PER_TOKEN) as u64
}
