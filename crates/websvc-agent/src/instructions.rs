//! The instructions of requests to the model. A change of their meaning is a new file, so that versions can be compared.

/// The instructions of a decision.
pub(crate) const DECIDE: &str = include_str!("instructions/v4.txt");

/// The instructions to extract the data of a page.
pub(crate) const COLLECT: &str = include_str!("instructions/collect-v1.txt");

/// The instructions to write the answer.
pub(crate) const COMPOSE: &str = include_str!("instructions/compose-v1.txt");

/// The instructions to write the answer as a text.
pub(crate) const COMPOSE_TEXT: &str = include_str!("instructions/compose-text-v1.txt");

/// All instructions, so that an environment can recognize them in what a model wants to send.
pub const INSTRUCTIONS: [&str; 4] = [DECIDE, COLLECT, COMPOSE, COMPOSE_TEXT];
