//! Converts a prompt to options by rules. Only explicit phrases are recognized; nothing is guessed.

use websvc_types::job::{CrawlParams, SitemapMode};
use websvc_types::limits::CRAWL_PATTERNS_MAX;

use super::section;
use super::token::{Token, tokens};

/// Words after which something is excluded, until the end of the clause.
const NEGATIONS: &[&str] = &[
    "except",
    "excluding",
    "exclude",
    "excludes",
    "without",
    "not",
    "skip",
    "skipping",
    "ignore",
    "ignoring",
    "avoid",
    "avoiding",
    "no",
    "don't",
    "dont",
    "never",
    "omit",
    "omitting",
];

/// Words after which something is included again.
const AFFIRMATIONS: &[&str] = &[
    "only",
    "include",
    "including",
    "just",
    "crawl",
    "get",
    "extract",
    "fetch",
    "collect",
    "scrape",
    "with",
    "up",
    "at",
    "use",
    "using",
    "limit",
    "but",
];

/// Nouns after a number of pages.
const PAGES: &[&str] =
    &["page", "pages", "document", "documents", "url", "urls", "article", "articles", "posts", "results"];

/// Nouns after a depth.
const LEVELS: &[&str] = &["level", "levels", "link", "links", "hop", "hops", "click", "clicks"];

/// Reads the options in a prompt. Options that it does not mention are `None`.
pub(super) fn read(prompt: &str) -> CrawlParams {
    let tokens = tokens(prompt);
    let mut parser = PromptParser { tokens: &tokens, is_negated: false, params: CrawlParams::default() };
    for (index, token) in tokens.iter().enumerate() {
        parser.update_polarity(index);
        let _ = parser.numbers(index)
            || parser.sitemap(index)
            || parser.query(index)
            || parser.hosts(index)
            || parser.whole_site(index)
            || parser.pages(index);
        if token.ends_clause {
            parser.is_negated = false;
        }
    }
    let mut params = parser.params;
    for patterns in [&mut params.include_paths, &mut params.exclude_paths].into_iter().flatten() {
        patterns.truncate(CRAWL_PATTERNS_MAX);
    }
    params
}

/// The state while a prompt is parsed.
struct PromptParser<'a> {
    tokens: &'a [Token<'a>],
    is_negated: bool,
    params: CrawlParams,
}

impl PromptParser<'_> {
    /// Returns a word in lower case; empty outside the prompt.
    fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &token.lower)
    }

    fn word_before(&self, index: usize) -> &str {
        index.checked_sub(1).map_or("", |index| self.word(index))
    }

    /// Updates whether the following words include or exclude.
    fn update_polarity(&mut self, index: usize) {
        let word = self.word(index);
        if NEGATIONS.contains(&word) {
            // "not only the blog" includes the blog, and "no more than 5 pages" excludes nothing.
            self.is_negated = !matches!(self.word(index + 1), "only" | "more" | "deeper" | "exceed");
        } else if AFFIRMATIONS.contains(&word) && !NEGATIONS.contains(&self.word_before(index)) {
            self.is_negated = false;
        }
    }

    /// Reads numbers of pages, levels and seconds.
    fn numbers(&mut self, index: usize) -> bool {
        let digits = self.word(index).replace(',', "");
        if let Some(seconds) = digits.parse::<f64>().ok().filter(|seconds| seconds.is_finite())
            && matches!(self.word(index + 1), "s" | "sec" | "second" | "seconds")
        {
            self.params.delay = Some(seconds);
            return true;
        }
        let Ok(number) = digits.parse::<u64>() else { return false };
        let (before, after) = (self.word_before(index), self.word(index + 1));
        let is_depth = LEVELS.contains(&after)
            || before == "depth"
            || (matches!(before, "of" | "to" | "is" | "=") && self.word(index.saturating_sub(2)) == "depth");
        if is_depth {
            self.params.max_discovery_depth = u32::try_from(number).ok();
            return true;
        }
        let is_counted = PAGES.contains(&after) || PAGES.contains(&self.word(index + 2));
        let is_bound = matches!(before, "limit" | "maximum" | "max")
            || (matches!(before, "to" | "of" | "is" | "=")
                && matches!(self.word(index.saturating_sub(2)), "limit" | "maximum" | "max" | "up"));
        if is_counted || is_bound {
            self.params.limit = Some(number);
        }
        is_counted || is_bound
    }

    fn sitemap(&mut self, index: usize) -> bool {
        if !matches!(self.word(index), "sitemap" | "sitemaps") {
            return false;
        }
        let is_alone = self.word(index + 1) == "only"
            || self.word_before(index) == "only"
            || (matches!(self.word_before(index), "the" | "its")
                && self.word(index.saturating_sub(2)) == "only");
        self.params.sitemap = Some(match (self.is_negated, is_alone) {
            (true, _) => SitemapMode::Skip,
            (false, true) => SitemapMode::Only,
            (false, false) => SitemapMode::Include,
        });
        true
    }

    fn query(&mut self, index: usize) -> bool {
        let is_query = self.word(index) == "query"
            && matches!(
                self.word(index + 1),
                "parameter" | "parameters" | "params" | "string" | "strings" | "args"
            );
        if is_query {
            self.params.ignore_query_parameters = Some(self.is_negated);
        }
        is_query
    }

    /// Reads whether other hosts are included.
    fn hosts(&mut self, index: usize) -> bool {
        let after = self.word(index + 1);
        let value = Some(!self.is_negated);
        match self.word(index) {
            "subdomain" | "subdomains" | "sub-domains" => self.params.allow_subdomains = value,
            "external" | "outbound" | "outgoing"
                if matches!(after, "link" | "links" | "site" | "sites" | "page" | "pages" | "domains") =>
            {
                self.params.allow_external_links = value;
            }
            "other" if matches!(after, "site" | "sites" | "domain" | "domains" | "hosts" | "websites") => {
                self.params.allow_external_links = value;
            }
            _ => return false,
        }
        true
    }

    fn whole_site(&mut self, index: usize) -> bool {
        let after = self.word(index + 1);
        let is_site = |word: &str| matches!(word, "site" | "website" | "domain" | "host");
        let is_whole = matches!(self.word(index), "whole" | "entire" | "full" | "complete") && is_site(after);
        if is_whole {
            self.params.crawl_entire_domain = Some(!self.is_negated);
        }
        is_whole
    }

    /// Reads sections of the site, by path or by name.
    fn pages(&mut self, index: usize) -> bool {
        let word = self.word(index);
        let next = self.tokens.get(index + 1).map(|token| token.lower.as_str());
        let patterns = match section::path(self.tokens[index].text) {
            Some(pattern) => Some(vec![pattern]),
            None => section::named(word, next),
        };
        let Some(patterns) = patterns else { return false };
        let list =
            if self.is_negated { &mut self.params.exclude_paths } else { &mut self.params.include_paths };
        let list = list.get_or_insert_default();
        for pattern in patterns {
            if !list.contains(&pattern) {
                list.push(pattern);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(prompt: &str, expected: &Value) {
        assert_eq!(serde_json::to_value(read(prompt)).unwrap(), *expected, "{prompt}");
    }

    #[test]
    fn sections_and_paths_become_patterns() {
        let both = json!(["blog/.*", "/blog$", "docs/.*", "/docs$"]);
        check("Extract all blog posts and documentation", &json!({ "includePaths": both }));
        check("only the blog and docs", &json!({ "includePaths": both }));
        check("Crawl /docs and /a.b/*", &json!({ "includePaths": ["/docs(/|$)", "/a\\.b(/|$)"] }));
        check("just https://a.test/help/api/.", &json!({ "includePaths": ["/help/api(/|$)"] }));
        check("the recipes section", &json!({ "includePaths": ["recipes/.*", "/recipes$"] }));
        check("the main section", &json!({}));
        check("either/or and // and /", &json!({}));
    }

    #[test]
    fn exclusion_lasts_until_the_end_of_the_clause() {
        check("everything except /archive", &json!({ "excludePaths": ["/archive(/|$)"] }));
        check(
            "not the blog. The docs.",
            &json!({
                "excludePaths": ["blog/.*", "/blog$"], "includePaths": ["docs/.*", "/docs$"],
            }),
        );
        check(
            "skip /a, /b and /c but include /d",
            &json!({
                "excludePaths": ["/a(/|$)", "/b(/|$)", "/c(/|$)"], "includePaths": ["/d(/|$)"],
            }),
        );
        check(
            "the docs but not /docs/old",
            &json!({
                "includePaths": ["docs/.*", "/docs$"], "excludePaths": ["/docs/old(/|$)"],
            }),
        );
        check("not only the blog", &json!({ "includePaths": ["blog/.*", "/blog$"] }));
    }

    #[test]
    fn numbers_set_the_option_of_the_noun_they_count() {
        check("up to 50 pages", &json!({ "limit": 50 }));
        check("no more than 1,500 urls!", &json!({ "limit": 1500 }));
        check(
            "no more than 9 pages of the blog",
            &json!({
                "limit": 9, "includePaths": ["blog/.*", "/blog$"],
            }),
        );
        check("limit 20", &json!({ "limit": 20 }));
        check("max 20 blog posts", &json!({ "limit": 20, "includePaths": ["blog/.*", "/blog$"] }));
        check("a depth of 3", &json!({ "maxDiscoveryDepth": 3 }));
        check("2 levels deep, 7 pages", &json!({ "maxDiscoveryDepth": 2, "limit": 7 }));
        check("wait 1.5 seconds between pages", &json!({ "delay": 1.5 }));
        check("the top 40 of 1999", &json!({}));
        check("up to 99999999999999999999 pages", &json!({}));
    }

    #[test]
    fn phrases_about_hosts_sitemaps_and_queries_set_switches() {
        check("the whole site", &json!({ "crawlEntireDomain": true }));
        check(
            "entire domain with subdomains",
            &json!({ "crawlEntireDomain": true, "allowSubdomains": true }),
        );
        check(
            "no subdomains and no external links",
            &json!({
                "allowSubdomains": false, "allowExternalLinks": false,
            }),
        );
        check("follow links to other sites", &json!({ "allowExternalLinks": true }));
        check("without sitemap", &json!({ "sitemap": "skip" }));
        check("ignore the sitemap", &json!({ "sitemap": "skip" }));
        check("only the sitemap", &json!({ "sitemap": "only" }));
        check("use the sitemap", &json!({ "sitemap": "include" }));
        check("ignore query parameters", &json!({ "ignoreQueryParameters": true }));
    }

    #[test]
    fn arbitrary_prompts_are_accepted() {
        check("", &json!({}));
        check("\u{0} \u{fffd} \"\" ... /// *", &json!({}));
        let long = "/x ".repeat(2_000) + &(0..500).map(|index| format!("/p{index} ")).collect::<String>();
        assert_eq!(read(&long).include_paths.unwrap().len(), CRAWL_PATTERNS_MAX);
    }
}
