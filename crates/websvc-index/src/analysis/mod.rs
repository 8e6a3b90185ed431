//! Text analysis, which splits documents and queries into words in the same way.

mod emoji;
mod fold;
mod forms;
mod irregular;
mod joined;
mod language;
mod segment;
mod stopwords;

pub(crate) use fold::{fold, folded};
pub(crate) use forms::{FormCache, Forms};
pub(crate) use irregular::other_numbers;
pub(crate) use joined::is_unit;
pub(crate) use language::Language;
pub use language::detect;
pub(crate) use segment::{Kind, Word, each_word, head};
pub use stopwords::{is_stop_word, stop_words};
