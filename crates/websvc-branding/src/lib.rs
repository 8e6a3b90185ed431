//! The design of a page (operations.md, section 7): from the computed styles that a script read in the browser and the
//! declarations of the page, without IO and without a language model.
//!
//! [`design()`] decides everything that rules can decide. Close candidates are returned as [`BrandChoices`], among which a
//! language model may choose.

mod canvas;
mod choice;
mod color;
mod component;
mod design;
mod fonts;
mod framework;
mod logo;
mod name;
mod palette;
mod report;
mod typography;

pub use choice::BrandChoices;
pub use design::{PageDesign, design};
pub use report::StyleReport;
