//! Text analysis, which splits documents and queries into words in the same way.

mod fold;
mod forms;
mod language;
mod segment;
mod stopwords;

pub(crate) use fold::{fold, folded};
pub(crate) use forms::{FormCache, Forms};
pub(crate) use language::Language;
pub use language::detect;
pub(crate) use segment::{Kind, Word, each_word, head};
pub use stopwords::is_stop_word;
