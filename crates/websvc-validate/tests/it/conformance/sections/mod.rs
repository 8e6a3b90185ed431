//! The sections of the specification, a file each.

mod request;

use super::check;
use super::row::Section;

macro_rules! sections {
    ($($test:ident: $number:literal, $title:literal, $rows:path;)*) => {
        /// Returns the whole table.
        pub(crate) fn all() -> Vec<Section> {
            vec![$(Section { number: $number, title: $title, rows: $rows() }),*]
        }

        $(#[test]
        fn $test() {
            check(&Section { number: $number, title: $title, rows: $rows() });
        })*
    };
}

sections! {
    section_2_1_holds: "2.1", "Search request body", request::rows;
}
