//! The context of an endpoint: how much of it a prompt and a response may take, as configured and as its server has shown.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::too_long::Excess;
use crate::tokens::TokenEstimate;

/// The tokens that the server adds around the messages.
const TEMPLATE_TOKENS: f64 = 24.0;

/// The factor for texts that have more tokens than estimated.
const MARGIN: f64 = 1.05;

/// The part of the context that a response may take at least, if it wants it: a third. A model that reasons gets half of it.
const RESPONSE_DIVISOR: u32 = 3;
const REASONING_DIVISOR: u32 = 2;

/// Characters for a token of a page in English with some links and numbers, for limits without a text.
const CHARS_PER_TOKEN: f64 = 3.0;

/// The range of the learned factor of estimates. Other tokenizers do not exist, but wrong reports do.
const MIN_FACTOR: f64 = 0.5;
const MAX_FACTOR: f64 = 2.5;

/// The weight of one report in the learned factor. Texts with more tokens than estimated weigh more, because they may not fit,
/// and those that did not fit most of all.
const WEIGHT_OF_LESS: f64 = 0.1;
const WEIGHT_OF_MORE: f64 = 0.4;
const WEIGHT_OF_REFUSAL: f64 = 1.0;

/// The estimated tokens of a prompt from which its report is used. The template decides about shorter ones.
const MIN_LEARNED_TOKENS: f64 = 200.0;

/// The estimated tokens of a prompt from which a server that counts far fewer has cut it. No server has a shorter context.
const MIN_CUT_TOKENS: f64 = 1_000.0;

/// The reported tokens below which a server does not count the whole prompt, but only what was not in its cache.
const MIN_REPORTED_TOKENS: u64 = 512;

/// The minimum of a context from a refusal, in tokens. With less, no request could be sent until it is forgotten, and a wrong
/// number is more likely than such a server.
const MIN_REFUSED_CONTEXT: u32 = 2_048;

/// The time for which the context from a refusal is used. The server may get a longer one.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);

/// The tokens that a prompt and its response may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TokenPlan {
    /// The estimated tokens that the prompt may have; `None` if all of it fits, or if the context is not known.
    pub(super) max_prompt_tokens: Option<f64>,
    /// The maximum length of the response.
    pub(super) max_tokens: u32,
}

/// The part of a prompt that a server has read, by the tokens that it reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptReading {
    /// The server has read it.
    Whole,
    /// The server has silently left out a part.
    Cut,
}

/// The context of an endpoint.
#[derive(Debug)]
pub(super) struct ContextWindow {
    configured: Option<u32>,
    max_output: Option<u32>,
    learned: Mutex<Learned>,
}

/// The knowledge from the responses of the server.
#[derive(Debug)]
struct Learned {
    /// The context, and until when it is used.
    context: Option<(u32, Instant)>,
    /// The tokens of a prompt, as a multiple of the estimate.
    factor: f64,
}

impl ContextWindow {
    /// Creates the context of an endpoint that has not responded yet, with the configured number of tokens and the upper
    /// bound of a response, if any.
    pub(super) fn new(configured: Option<u32>, max_output: Option<u32>) -> Self {
        Self { configured, max_output, learned: Mutex::new(Learned { context: None, factor: 1.0 }) }
    }

    /// Returns a context with the same configuration for another model of the endpoint, which has not responded yet.
    pub(super) fn unlearned(&self) -> Self {
        Self::new(self.configured, self.max_output)
    }

    /// Returns the tokens of the context, if they are known.
    pub(super) fn tokens(&self, now: Instant) -> Option<u32> {
        let learned = self.learned.lock().context.filter(|(_, until)| now < *until).map(|(tokens, _)| tokens);
        learned.into_iter().chain(self.configured).min()
    }

    /// Returns the tokens of a prompt as a multiple of the estimate.
    pub(super) fn factor(&self) -> f64 {
        self.learned.lock().factor
    }

    /// Plans a prompt, whose tokens are `factor` times the estimate, and a response. The prompt gets what it needs, and the
    /// response the rest, but at least a part of the context.
    pub(super) fn plan(
        &self,
        prompt: TokenEstimate,
        factor: f64,
        wanted: ResponseTokens,
        now: Instant,
    ) -> TokenPlan {
        let ResponseTokens { tokens, is_reasoning } = wanted;
        let wanted = tokens.min(self.max_output.unwrap_or(u32::MAX)).max(1);
        let Some(context) = self.tokens(now) else {
            return TokenPlan { max_prompt_tokens: None, max_tokens: wanted };
        };
        let divisor = if is_reasoning { REASONING_DIVISOR } else { RESPONSE_DIVISOR };
        let least = wanted.min(context / divisor).max(1);
        let prompt_tokens = prompt.likely * factor * MARGIN + TEMPLATE_TOKENS;
        let rest = f64::from(context) - prompt_tokens;
        let max_tokens = (rest.max(0.0) as u32).clamp(least, wanted);
        let space = f64::from(context - max_tokens);
        let fits = prompt_tokens <= space;
        let max_prompt_tokens = (!fits).then_some((space - TEMPLATE_TOKENS) / (factor * MARGIN));
        TokenPlan { max_prompt_tokens, max_tokens }
    }

    /// Returns the maximum length of a prompt with an ordinary text, in characters; `None` if the context is not known.
    pub(super) fn max_input_chars(&self, now: Instant) -> Option<usize> {
        let context = self.tokens(now)?;
        let tokens = f64::from(context - context / RESPONSE_DIVISOR) - TEMPLATE_TOKENS;
        Some((tokens / (self.factor() * MARGIN) * CHARS_PER_TOKEN) as usize)
    }

    /// Learns from the refusal of a prompt. Returns the factor of the estimate for this prompt.
    pub(super) fn learn_refusal(&self, prompt: TokenEstimate, excess: Excess, now: Instant) -> f64 {
        let Excess { prompt_tokens, context_tokens } = excess;
        let mut learned = self.learned.lock();
        if let Some(tokens) = context_tokens {
            learned.context = Some((tokens.max(MIN_REFUSED_CONTEXT), now + REMEMBERED));
        }
        let Some(tokens) = prompt_tokens.filter(|_| prompt.likely > 0.0) else { return learned.factor };
        let factor = f64::from(tokens) / prompt.likely;
        let weight = if factor > learned.factor { WEIGHT_OF_REFUSAL } else { WEIGHT_OF_LESS };
        learned.update(factor, weight);
        factor.clamp(MIN_FACTOR, MAX_FACTOR * 2.0)
    }

    /// Learns from the tokens of a prompt that the server reports, and of which `cached` were in its cache. Returns whether it
    /// has read all of the prompt.
    pub(super) fn learn_usage(&self, prompt: TokenEstimate, reported: u64, cached: u64) -> PromptReading {
        if reported < MIN_REPORTED_TOKENS && prompt.likely > MIN_CUT_TOKENS || reported == 0 {
            return PromptReading::Whole;
        }
        // Some servers do not count what was in their cache.
        if prompt.likely > MIN_CUT_TOKENS && (reported.saturating_add(cached) as f64) < prompt.least {
            return PromptReading::Cut;
        }
        if prompt.likely >= MIN_LEARNED_TOKENS {
            let factor = (reported as f64 - TEMPLATE_TOKENS).max(0.0) / prompt.likely;
            let mut learned = self.learned.lock();
            let weight = if factor > learned.factor { WEIGHT_OF_MORE } else { WEIGHT_OF_LESS };
            learned.update(factor, weight);
        }
        PromptReading::Whole
    }
}

/// The tokens that a request wants for its response.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResponseTokens {
    pub(super) tokens: u32,
    /// They include those of the reasoning of the model.
    pub(super) is_reasoning: bool,
}

impl Learned {
    /// Moves the factor towards that of one prompt. One that is far away is not of a tokenizer.
    fn update(&mut self, factor: f64, weight: f64) {
        if !(MIN_FACTOR / 2.0..=MAX_FACTOR * 2.0).contains(&factor) {
            return;
        }
        let moved = self.factor + (factor - self.factor) * weight;
        self.factor = moved.clamp(MIN_FACTOR, MAX_FACTOR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn prompt(likely: f64) -> TokenEstimate {
        TokenEstimate { likely, least: likely * 0.6 }
    }

    const fn answer(tokens: u32) -> ResponseTokens {
        ResponseTokens { tokens, is_reasoning: false }
    }

    /// Returns the planned tokens of the prompt, if it must be cut, and of the response.
    fn plan(window: &ContextWindow, likely: f64, wanted: ResponseTokens) -> (Option<u32>, u32) {
        let plan = window.plan(prompt(likely), window.factor(), wanted, Instant::now());
        (plan.max_prompt_tokens.map(|tokens| tokens as u32), plan.max_tokens)
    }

    #[test]
    fn unknown_context_has_no_limit() {
        let window = ContextWindow::new(None, None);
        assert_eq!(plan(&window, 1e9, answer(4_096)), (None, 4_096));
        assert_eq!(window.max_input_chars(Instant::now()), None);
    }

    #[test]
    fn response_gets_what_the_prompt_leaves_but_at_least_a_third() {
        let window = ContextWindow::new(Some(4_096), None);
        assert_eq!(plan(&window, 1_000.0, answer(600)), (None, 600));
        // 4,096 - 1,000 * 1.05 - 24.
        assert_eq!(plan(&window, 1_000.0, answer(4_096)), (None, 3_022));
        assert_eq!(plan(&window, 2_500.0, answer(4_096)), (None, 1_447));
        assert_eq!(plan(&window, 9_000.0, answer(4_096)), (Some(2_578), 1_365));
        assert_eq!(plan(&window, 9_000.0, answer(300)), (Some(3_592), 300));
        let reasoning = ResponseTokens { tokens: 8_192, is_reasoning: true };
        assert_eq!(plan(&window, 9_000.0, reasoning), (Some(1_927), 2_048));
        let chars = window.max_input_chars(Instant::now()).unwrap();
        assert!((7_000..8_200).contains(&chars), "{chars}");
    }

    #[test]
    fn upper_bound_of_responses_also_holds_without_a_context() {
        assert_eq!(plan(&ContextWindow::new(None, Some(500)), 9.0, answer(4_096)), (None, 500));
        assert_eq!(plan(&ContextWindow::new(Some(4_096), Some(500)), 9.0, answer(4_096)), (None, 500));
        assert_eq!(plan(&ContextWindow::new(None, Some(500)), 9.0, answer(99)), (None, 99));
    }

    #[test]
    fn refusal_teaches_the_context_for_an_hour() {
        let window = ContextWindow::new(Some(16_384), None);
        let now = Instant::now();
        let excess = Excess { prompt_tokens: Some(6_000), context_tokens: Some(4_096) };
        assert_eq!(window.learn_refusal(prompt(3_000.0), excess, now), 2.0);
        assert_eq!(window.tokens(now), Some(4_096));
        assert_eq!(window.factor(), 2.0);
        assert_eq!(window.tokens(now + REMEMBERED), Some(16_384));
        // A longer context than the configured one is not used.
        let excess = Excess { prompt_tokens: None, context_tokens: Some(32_768) };
        assert_eq!(window.learn_refusal(prompt(3_000.0), excess, now), window.factor());
        assert_eq!(window.tokens(now), Some(16_384));
    }

    #[test]
    fn refusal_with_a_wrong_number_stops_no_later_request() {
        let window = ContextWindow::new(None, None);
        let excess = Excess { prompt_tokens: Some(90_000), context_tokens: Some(16) };
        assert!(window.learn_refusal(prompt(700.0), excess, Instant::now()) <= MAX_FACTOR * 2.0);
        assert_eq!(window.tokens(Instant::now()), Some(MIN_REFUSED_CONTEXT));
        assert!((window.factor() - 1.0).abs() < 1e-9, "{}", window.factor());
    }

    #[test]
    fn reported_tokens_correct_the_estimate_within_bounds() {
        let window = ContextWindow::new(None, None);
        for _ in 0..50 {
            assert_eq!(window.learn_usage(prompt(800.0), 1_224, 0), PromptReading::Whole);
        }
        assert!((window.factor() - 1.5).abs() < 0.01, "{}", window.factor());
        for _ in 0..200 {
            window.learn_usage(prompt(800.0), 584, 0);
        }
        assert!((window.factor() - 0.7).abs() < 0.01, "{}", window.factor());
        for _ in 0..200 {
            window.learn_usage(prompt(900.0), 3_924, 0);
        }
        assert!(window.factor() <= MAX_FACTOR, "{}", window.factor());
        let factor = window.factor();
        for (likely, reported) in [(100.0, 900), (900.0, 0), (900.0, 100_000), (900.0, 30)] {
            window.learn_usage(prompt(likely), reported, 0);
        }
        assert_eq!(window.factor(), factor, "short prompts and impossible reports teach nothing");
    }

    #[test]
    fn prompt_with_far_fewer_tokens_was_cut() {
        let window = ContextWindow::new(None, None);
        for (likely, reported, cached, expected) in [
            (8_000.0, 4_096, 0, PromptReading::Cut),
            (8_000.0, 4_096, 100, PromptReading::Cut),
            (8_000.0, 4_096, 4_000, PromptReading::Whole),
            (8_000.0, 4_900, 0, PromptReading::Whole),
            (900.0, 513, 0, PromptReading::Whole),
            // Of the part that was not in the cache.
            (8_000.0, 11, 0, PromptReading::Whole),
            (8_000.0, 0, 0, PromptReading::Whole),
        ] {
            assert_eq!(window.learn_usage(prompt(likely), reported, cached), expected, "{likely} {reported}");
        }
    }
}
