//! Section 2.5: query operators.

use websvc_validate::SearchPlan;

use crate::conformance::row::{Row, row, search};

pub(super) fn rows() -> Vec<Row> {
    let filter_test = "operators_filter_pages";
    vec![
        reading("2.5 \"text\"", "exactly these words in this order")
            .printed("\"context manager\"", "\"context manager\"")
            .printed("a \"b  c\" d", "a \"b c\" d")
            .printed("5\" disk", "5 disk")
            .tested("websvc-index", "phrases_match_exactly_and_words_by_their_stem"),
        reading("2.5 -", "excludes a word, a phrase, a group, or negates an operator")
            .printed("jaguar -car", "jaguar -car")
            .printed("-\"used cars\"", "-\"used cars\"")
            .printed("-(a b)", "-(a b)")
            .printed("a -site:example.com -filetype:pdf", "a -site:example.com -filetype:pdf")
            .printed("well-known a - b", "well-known a b")
            .tested("websvc-index", "negation_and_alternatives_can_be_combined"),
        reading("2.5 OR and ( )", "alternatives and groups (not specified)")
            .printed("(a OR b) c", "a OR b c")
            .printed("(a b) OR c", "(a b) OR c")
            .tested("websvc-query", "or_binds_tighter_than_conjunction"),
        reading("2.5 site:", "only results of the host and its subdomains, below the path if there is one")
            .printed("site:Docs.Python.org", "site:docs.python.org")
            .printed("site:example.com/docs/ x", "site:example.com/docs x")
            .printed("site:https://example.com", "site:example.com")
            .plain("site:a..b", "site:a..b")
            .tested("websvc-index", filter_test),
        reading("2.5 filetype:", "only results of the file extension; can be negated")
            .printed("filetype:PDF", "filetype:pdf")
            .printed("-filetype:.doc", "-filetype:doc")
            .plain("filetype:p/df", "filetype:p/df")
            .tested("websvc-index", filter_test),
        reading("2.5 inurl:", "the URL contains the word")
            .printed("inurl:login x", "inurl:login x")
            .plain("inurl:", "inurl")
            .tested("websvc-index", filter_test),
        reading("2.5 allinurl:", "the URL contains all following words")
            .printed("allinurl:docs api", "allinurl:docs api")
            .plain("allinurl:", "allinurl")
            .tested("websvc-index", filter_test),
        reading("2.5 intitle:", "the title contains the word")
            .printed("intitle:\"release notes\" x", "intitle:\"release notes\" x")
            .plain("intitle: -x", "intitle -x")
            .tested("websvc-index", filter_test),
        reading("2.5 allintitle:", "the title contains all following words")
            .printed("allintitle: python release", "allintitle:python release")
            .plain("allintitle:", "allintitle")
            .tested("websvc-index", filter_test),
        reading("2.5 related:", "results related to the domain")
            .printed("related:Example.com", "related:example.com")
            .plain("related:a..b", "related:a..b")
            .tested("websvc-index", "related_finds_pages_by_links_and_words_but_not_the_domain_itself")
            .tested("websvc-index", "images_of_related_pages_are_found"),
        image_size(),
        image_larger(),
        reading("2.5 bad arguments", "never an error, but plain words and a warning that names the operator")
            .plain("cats site:", "cats site")
            .plain("cats -site:\"two words\"", "cats -\"two words\"")
            .tested("websvc-query", "invalid_argument_becomes_plain_words_and_a_warning")
            .tested("websvc-query", "warning_names_operator_and_argument")
            .tested("websvc-query", "every_text_has_a_tree_with_one_printed_form")
            .tested("websvc-query", "deep_and_long_texts_take_linear_time"),
    ]
}

fn image_size() -> Row {
    reading("2.5 imagesize:", "images of exactly this size")
        .printed("imagesize:1920x1080 cats", "imagesize:1920x1080 cats")
        .plain("imagesize:big", "imagesize:big")
        .plain("imagesize:0x10", "imagesize:0x10")
        .tested("websvc-index", "images_are_filtered_by_size_type_site_and_date")
        .tested("websvc-index", "image_operators_are_ignored_with_a_warning_in_web_search")
}

fn image_larger() -> Row {
    reading("2.5 larger:", "images larger than this size")
        .printed("larger:800X600 cats", "larger:800x600 cats")
        .plain("larger:99999999999x1", "larger:99999999999x1")
        .tested("websvc-index", "images_are_filtered_by_size_type_site_and_date")
        .tested("websvc-index", "image_operators_are_ignored_with_a_warning_in_web_search")
}

fn reading(name: &'static str, rule: &'static str) -> Row {
    row(name, rule).at(search("query"))
}

fn print(plan: &SearchPlan) -> String {
    plan.query.to_string()
}

impl Row {
    /// Adds a case: the query is read as the tree with this printed form.
    fn printed(self, query: &str, tree: &'static str) -> Self {
        self.reads(query, print, tree.to_owned())
    }

    /// Adds a case: the query is read as these plain words, with a warning.
    fn plain(self, query: &str, words: &'static str) -> Self {
        self.reads_with_warning(query, "plain word", print, words.to_owned())
    }
}
