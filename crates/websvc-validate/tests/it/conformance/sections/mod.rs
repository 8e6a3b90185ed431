//! Sections of the specification, one file each.

mod actions;
mod endpoint;
mod errors;
mod formats;
mod limits;
mod operators;
mod redact;
mod request;
mod response;
mod scrape_objects;
mod scrape_options;
mod tbs;
mod threat;

use super::check;
use super::row::{Row, Section};

fn section(
    number: &'static str,
    title: &'static str,
    test: &'static str,
    rows: &[fn() -> Vec<Row>],
) -> Section {
    Section { number, title, test, rows: rows.iter().flat_map(|rows| rows()).collect() }
}

macro_rules! sections {
    ($($test:ident: $number:literal, $title:literal, $($rows:path),+;)*) => {
        /// Returns the whole table.
        pub(crate) fn all() -> Vec<Section> {
            vec![$(section($number, $title, stringify!($test), &[$($rows),+])),*]
        }

        $(#[test]
        fn $test() {
            check(&section($number, $title, stringify!($test), &[$($rows),+]));
        })*
    };
}

sections! {
    section_2_1_is_implemented: "2.1", "Search request body", request::rows;
    section_2_2_is_implemented: "2.2", "scrapeOptions object", scrape_options::rows, scrape_objects::rows;
    section_2_2_1_is_implemented: "2.2.1", "Format objects", formats::rows;
    section_2_2_2_is_implemented: "2.2.2", "Action objects", actions::rows;
    section_2_2_3_is_implemented: "2.2.3", "redactPII object", redact::rows;
    section_2_3_is_implemented: "2.3", "threatProtection object", threat::rows;
    section_2_4_is_implemented: "2.4", "tbs values", tbs::rows;
    section_2_5_is_implemented: "2.5", "Query operators", operators::rows;
    section_2_6_is_implemented: "2.6", "Search response body", response::rows;
    section_4_1_is_implemented: "4.1", "Search endpoint", endpoint::rows;
    section_5_is_implemented: "5", "Authentication", errors::authentication;
    section_7_is_implemented: "7", "Errors", errors::errors;
    section_8_is_implemented: "8", "Limits", limits::rows;
}
