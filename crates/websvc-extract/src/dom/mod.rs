//! The compact DOM of a page.
