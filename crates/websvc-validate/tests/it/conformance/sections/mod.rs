//! The sections of the specification, a file each.

mod actions;
mod formats;
mod redact;
mod request;
mod scrape_objects;
mod scrape_options;
mod threat;

use super::check;
use super::row::Section;

macro_rules! sections {
    ($($test:ident: $number:literal, $title:literal, $($rows:path),+;)*) => {
        /// Returns the whole table.
        pub(crate) fn all() -> Vec<Section> {
            vec![$(Section { number: $number, title: $title, rows: [$($rows()),+].into_iter().flatten().collect() }),*]
        }

        $(#[test]
        fn $test() {
            check(&Section { number: $number, title: $title, rows: [$($rows()),+].into_iter().flatten().collect() });
        })*
    };
}

sections! {
    section_2_1_holds: "2.1", "Search request body", request::rows;
    section_2_2_holds: "2.2", "scrapeOptions object", scrape_options::rows, scrape_objects::rows;
    section_2_2_1_holds: "2.2.1", "Format objects", formats::rows;
    section_2_2_2_holds: "2.2.2", "Action objects", actions::rows;
    section_2_2_3_holds: "2.2.3", "redactPII object", redact::rows;
    section_2_3_holds: "2.3", "threatProtection object", threat::rows;
}
