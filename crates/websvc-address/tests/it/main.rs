//! Which addresses mean the same page, as tables and as properties.

mod properties;
mod table;
