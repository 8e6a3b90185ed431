//! Section 2.6: the response of a search.

use crate::conformance::row::{Row, row};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = envelope();
    rows.extend(web_results());
    rows.extend(images_and_news());
    rows.extend(metadata());
    rows
}

const FIELDS: (&str, &str) = ("websvc-types", "results_have_the_fields_of_the_specification");
const FORMATS: (&str, &str) = ("websvc-cli", "results_have_the_requested_formats");
const ORDER: (&str, &str) =
    ("websvc-types", "a_scraped_result_has_its_keys_in_the_order_of_the_specification");

/// Returns a row that tests elsewhere prove.
fn proven(name: &'static str, rule: &'static str, tests: &[(&'static str, &'static str)]) -> Row {
    tests.iter().fold(row(name, rule), |row, (in_crate, test)| row.tested(in_crate, test))
}

fn envelope() -> Vec<Row> {
    let sources = ("websvc-types", "a_response_has_only_the_sources_that_were_asked_for");
    vec![
        proven("2.6 success", "true", &[FIELDS, sources]),
        proven(
            "2.6 data",
            "an array for each source that was asked for, and no other key",
            &[FIELDS, sources, ("websvc-cli", "search_without_results_has_an_empty_list_per_source")],
        ),
        proven(
            "2.6 warning",
            "text when something went wrong without failing, else left out",
            &[
                FIELDS,
                ("websvc-cli", "unknown_key_is_named_in_the_warning"),
                ("websvc-cli", "unavailable_options_are_named_in_the_warning"),
            ],
        ),
        proven("2.6 id", "identifier of the search", &[FIELDS]),
        proven(
            "2.6 creditsUsed",
            "whole number",
            &[FIELDS, ("websvc-cli", "missing_formats_fetch_no_page_and_add_no_fields")],
        ),
    ]
}

fn web_results() -> Vec<Row> {
    let plain = ("websvc-types", "a_plain_result_has_no_key_of_a_scraped_page");
    vec![
        proven("2.6 web title, description, url", "texts, always there", &[FIELDS, plain]),
        proven(
            "2.6 web category",
            "github, research or pdf, when categories were asked for",
            &[FIELDS, ORDER, ("websvc-engine", "a_result_is_labelled_by_what_was_asked_for")],
        ),
        proven("2.6 web markdown", "when asked for, left out else", &[FIELDS, ORDER, FORMATS]),
        proven("2.6 web html", "when asked for, left out else", &[FIELDS, ORDER, FORMATS]),
        proven("2.6 web rawHtml", "when asked for, left out else", &[FIELDS, ORDER, FORMATS]),
        proven("2.6 web links", "texts, when asked for", &[FIELDS, ORDER, FORMATS]),
        proven(
            "2.6 web screenshot",
            "URL",
            &[FIELDS, ORDER, ("websvc-cli", "screenshot_is_served_at_its_url")],
        ),
        proven("2.6 web audio", "signed URL", &[FIELDS, ORDER]).later("media are extracted"),
        proven("2.6 web video", "signed URL", &[FIELDS, ORDER]).later("media are extracted"),
        proven(
            "2.6 web metadata",
            "object, of every result that was to be scraped",
            &[FORMATS, ("websvc-cli", "failed_page_stays_in_the_results_with_its_error")],
        ),
    ]
}

fn images_and_news() -> Vec<Row> {
    let written = ("websvc-types", "images_and_news_are_written_as_specified");
    let answered = ("websvc-cli", "every_source_has_its_own_result_shape");
    vec![
        proven(
            "2.6 images",
            "title, imageUrl, imageWidth, imageHeight, url, position",
            &[FIELDS, written, answered],
        ),
        proven(
            "2.6 news",
            "title, snippet, url, date, imageUrl, position, and the content as web results",
            &[FIELDS, written, answered],
        ),
    ]
}

fn metadata() -> Vec<Row> {
    let failed = ("websvc-cli", "private_addresses_are_rejected");
    let pages = ("websvc-cli", "pdf_has_markdown_and_page_counts");
    vec![
        proven("2.6 metadata title", "text", &[FIELDS, FORMATS]),
        proven("2.6 metadata description", "text", &[FIELDS, FORMATS]),
        proven("2.6 metadata sourceURL", "the URL that was asked for", &[FIELDS, FORMATS]),
        proven(
            "2.6 metadata url",
            "the URL after all redirects",
            &[FIELDS, ("websvc-transport", "the_chain_is_followed_and_reported")],
        ),
        proven("2.6 metadata statusCode", "whole number", &[FIELDS, FORMATS, failed]),
        proven("2.6 metadata numPages", "PDF: pages read", &[FIELDS, pages]),
        proven("2.6 metadata totalPages", "PDF: pages there are, when known", &[FIELDS, pages]),
        proven("2.6 metadata error", "text, of a page that could not be had", &[FIELDS, failed]),
    ]
}
