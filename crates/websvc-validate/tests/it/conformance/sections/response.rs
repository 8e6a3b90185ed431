//! Section 2.6: the response of a search.

use crate::conformance::row::{Row, row};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = envelope();
    rows.extend(web_results());
    rows.extend(images_and_news());
    rows.extend(metadata());
    rows
}

const FIELDS: (&str, &str) = ("websvc-types", "response_fields_match_the_specification");
const FORMATS: (&str, &str) = ("websvc-cli", "results_have_the_requested_formats");
const ORDER: (&str, &str) =
    ("websvc-types", "scraped_result_has_its_fields_in_the_order_of_the_specification");

/// Returns a row that other tests cover.
fn tested(name: &'static str, rule: &'static str, tests: &[(&'static str, &'static str)]) -> Row {
    tests.iter().fold(row(name, rule), |row, (in_crate, test)| row.tested(in_crate, test))
}

fn envelope() -> Vec<Row> {
    let sources = ("websvc-types", "response_has_only_the_requested_sources");
    vec![
        tested("2.6 success", "true", &[FIELDS, sources]),
        tested(
            "2.6 data",
            "an array for each requested source, and no other key",
            &[FIELDS, sources, ("websvc-cli", "search_without_results_has_an_empty_list_per_source")],
        ),
        tested(
            "2.6 warning",
            "text about problems that did not fail the search, otherwise absent",
            &[
                FIELDS,
                ("websvc-cli", "unknown_key_is_named_in_the_warning"),
                ("websvc-cli", "unavailable_options_are_named_in_the_warning"),
            ],
        ),
        tested("2.6 id", "identifier of the search", &[FIELDS]),
        tested(
            "2.6 creditsUsed",
            "integer",
            &[FIELDS, ("websvc-cli", "missing_formats_fetch_no_page_and_add_no_fields")],
        ),
    ]
}

fn web_results() -> Vec<Row> {
    let plain = ("websvc-types", "plain_result_has_no_field_of_a_scraped_page");
    vec![
        tested("2.6 web title, description, url", "texts, always present", &[FIELDS, plain]),
        tested(
            "2.6 web category",
            "github, research or pdf, if categories were requested",
            &[FIELDS, ORDER, ("websvc-engine", "label_is_one_of_the_requested_categories")],
        ),
        tested("2.6 web markdown", "if requested, otherwise absent", &[FIELDS, ORDER, FORMATS]),
        tested("2.6 web html", "if requested, otherwise absent", &[FIELDS, ORDER, FORMATS]),
        tested("2.6 web rawHtml", "if requested, otherwise absent", &[FIELDS, ORDER, FORMATS]),
        tested("2.6 web links", "texts, if requested", &[FIELDS, ORDER, FORMATS]),
        tested(
            "2.6 web screenshot",
            "URL",
            &[FIELDS, ORDER, ("websvc-cli", "screenshot_is_served_at_its_url")],
        ),
        tested(
            "2.6 web audio",
            "signed URL",
            &[FIELDS, ORDER, ("websvc-cli", "batches_crawls_and_searches_have_media")],
        ),
        tested(
            "2.6 web video",
            "signed URL",
            &[FIELDS, ORDER, ("websvc-cli", "downloaded_media_are_served_by_signed_urls_for_an_hour")],
        ),
        tested(
            "2.6 web metadata",
            "object, of every result that was scraped or failed",
            &[FORMATS, ("websvc-cli", "failed_page_stays_in_the_results_with_its_error")],
        ),
    ]
}

fn images_and_news() -> Vec<Row> {
    let serialized = ("websvc-types", "image_and_news_results_match_the_specification");
    let over_http = ("websvc-cli", "every_source_has_its_own_result_shape");
    vec![
        tested(
            "2.6 images",
            "title, imageUrl, imageWidth, imageHeight, url, position",
            &[FIELDS, serialized, over_http],
        ),
        tested(
            "2.6 news",
            "title, snippet, url, date, imageUrl, position, and content as in web results",
            &[FIELDS, serialized, over_http],
        ),
    ]
}

fn metadata() -> Vec<Row> {
    let failed = ("websvc-cli", "private_addresses_are_rejected");
    let pages = ("websvc-cli", "pdf_has_markdown_and_page_counts");
    vec![
        tested("2.6 metadata title", "text", &[FIELDS, FORMATS]),
        tested("2.6 metadata description", "text", &[FIELDS, FORMATS]),
        tested("2.6 metadata sourceURL", "the requested URL", &[FIELDS, FORMATS]),
        tested(
            "2.6 metadata url",
            "the URL after all redirects",
            &[FIELDS, ("websvc-transport", "redirect_chain_is_followed_and_reported")],
        ),
        tested("2.6 metadata statusCode", "integer", &[FIELDS, FORMATS, failed]),
        tested("2.6 metadata numPages", "PDF: number of pages read", &[FIELDS, pages]),
        tested("2.6 metadata totalPages", "PDF: number of pages, if known", &[FIELDS, pages]),
        tested("2.6 metadata error", "text, of a page that could not be scraped", &[FIELDS, failed]),
    ]
}
