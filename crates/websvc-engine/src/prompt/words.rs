//! Converts a prompt to options by rules. Only explicit phrases are recognized; nothing is guessed.

use websvc_types::job::{CrawlParams, SitemapMode};
use websvc_types::limits::CRAWL_PATTERNS_MAX;

use super::negation::Negation;
use super::number::{Number, number};
use super::section;
use super::token::{Token, tokens};

/// Words that say that a number of seconds is a delay.
const DELAY_WORDS: &[&str] = &[
    "wait", "waiting", "delay", "pause", "sleep", "between", "every", "each", "apart", "after", "interval",
    "slow", "slowly",
];

/// Nouns for a site.
const SITES: &[&str] = &["site", "website", "domain", "host"];

/// Nouns after a number of pages.
const PAGES: &[&str] =
    &["page", "pages", "document", "documents", "url", "urls", "article", "articles", "posts", "results"];

/// Nouns after a depth.
const LEVELS: &[&str] = &["level", "levels", "link", "links", "hop", "hops", "click", "clicks"];

/// The options in a prompt, and its words.
#[derive(Debug)]
pub(super) struct Reading {
    /// The options. Those that the prompt does not mention are `None`.
    pub(super) params: CrawlParams,
    /// The words in lower case, each with whether something is excluded there.
    pub(super) words: Vec<(String, bool)>,
    /// The numbers.
    pub(super) numbers: Vec<f64>,
}

/// Reads the options in a prompt.
pub(super) fn read(prompt: &str) -> Reading {
    let tokens = tokens(prompt);
    let mut parser =
        PromptParser { tokens: &tokens, negation: Negation::default(), params: CrawlParams::default() };
    let mut words = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        parser.negation = parser.negation.at(&tokens, index);
        words.push((token.lower.clone(), parser.negation.is_negated));
        let _ = parser.numbers(index)
            || parser.sitemap(index)
            || parser.query(index)
            || parser.hosts(index)
            || parser.whole_site(index)
            || parser.pages(index);
    }
    let mut params = parser.params;
    for patterns in [&mut params.include_paths, &mut params.exclude_paths].into_iter().flatten() {
        patterns.truncate(CRAWL_PATTERNS_MAX);
    }
    let numbers = (0..tokens.len()).filter_map(|index| number(&tokens, index)).map(|number| number.value);
    Reading { params, numbers: numbers.collect(), words }
}

/// The state while a prompt is parsed.
struct PromptParser<'a> {
    tokens: &'a [Token<'a>],
    negation: Negation,
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

    /// Reads numbers of pages, levels and seconds.
    fn numbers(&mut self, index: usize) -> bool {
        let Some(found) = number(self.tokens, index) else { return false };
        let Number { value, words } = found;
        let (before, after) = (self.word_before(index), self.word(index + words));
        if matches!(after, "s" | "sec" | "second" | "seconds") {
            let is_delay = self.tokens.iter().any(|token| DELAY_WORDS.contains(&token.lower.as_str()));
            if is_delay {
                self.params.delay = Some(value);
            }
            return true;
        }
        let Some(number) = found.whole() else { return false };
        let is_depth = LEVELS.contains(&after)
            || before == "depth"
            || (matches!(before, "of" | "to" | "is" | "=") && self.word(index.saturating_sub(2)) == "depth");
        if is_depth {
            self.params.max_discovery_depth = u32::try_from(number).ok();
            return true;
        }
        let is_counted = PAGES.contains(&after) || PAGES.contains(&self.word(index + words + 1));
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
            || (matches!(self.word_before(index), "the" | "its") && self.is_only(index.saturating_sub(2)));
        let Some(is_used) = self.negation.switch() else { return true };
        self.params.sitemap = Some(match (is_used, is_alone) {
            (false, _) => SitemapMode::Skip,
            (true, true) => SitemapMode::Only,
            (true, false) => SitemapMode::Include,
        });
        true
    }

    /// Returns whether a word is `only`, or a word after it that begins what follows: `only what the sitemap lists`.
    fn is_only(&self, index: usize) -> bool {
        let is_after = matches!(self.word(index), "what" | "from" | "in" | "by" | "use" | "with")
            && self.word_before(index) == "only";
        self.word(index) == "only" || is_after
    }

    fn query(&mut self, index: usize) -> bool {
        let is_query = self.word(index) == "query"
            && matches!(
                self.word(index + 1),
                "parameter" | "parameters" | "params" | "string" | "strings" | "args"
            );
        if is_query {
            self.params.ignore_query_parameters = self.negation.switch().map(|is_used| !is_used);
        }
        is_query
    }

    /// Reads whether other hosts are included.
    fn hosts(&mut self, index: usize) -> bool {
        let after = self.word(index + 1);
        let is_site = SITES.contains(&after.strip_suffix('s').unwrap_or(after));
        let is_page = matches!(after, "link" | "links" | "page" | "pages" | "url" | "urls");
        let value = self.negation.switch();
        match self.word(index) {
            "subdomain" | "subdomains" | "sub-domains" => {
                self.params.allow_subdomains = value.or(self.params.allow_subdomains);
            }
            "external" | "outbound" | "outgoing" | "off-site" | "offsite" | "third-party"
                if is_site || is_page =>
            {
                self.params.allow_external_links = value.or(self.params.allow_external_links);
            }
            "other" if is_site => {
                self.params.allow_external_links = value.or(self.params.allow_external_links);
            }
            "internal" if is_page && value == Some(true) => self.params.allow_external_links = Some(false),
            "same" if is_site && value == Some(true) => self.params.allow_external_links = Some(false),
            _ => return false,
        }
        true
    }

    fn whole_site(&mut self, index: usize) -> bool {
        let is_whole = match self.word(index) {
            "whole" | "entire" | "full" | "complete" => self.is_site_at(index + 1),
            "everything" => self.is_of_site(index + 1),
            "all" => {
                let pages = index + 1 + usize::from(self.word(index + 1) == "the");
                self.word(pages) == "pages" && self.is_of_site(pages + 1)
            }
            _ => false,
        };
        if is_whole {
            self.params.crawl_entire_domain = self.negation.switch().or(self.params.crawl_entire_domain);
        }
        is_whole
    }

    /// Returns whether a noun for a site is at an index: `site`, `web site`.
    fn is_site_at(&self, index: usize) -> bool {
        let index = index + usize::from(self.word(index) == "web");
        SITES.contains(&self.word(index))
    }

    /// Returns whether words say that something is of the whole site: `on the site`.
    fn is_of_site(&self, index: usize) -> bool {
        let is_on = matches!(self.word(index), "on" | "of" | "from" | "in");
        let article = usize::from(matches!(self.word(index + 1), "the" | "this" | "that" | "their"));
        is_on && self.is_site_at(index + 1 + article)
    }

    /// Reads sections of the site, by path or by name.
    fn pages(&mut self, index: usize) -> bool {
        let word = self.word(index);
        let next = self.tokens.get(index + 1).map(|token| token.lower.as_str());
        let patterns = match section::path(self.tokens[index].text) {
            Some(pattern) => Some(vec![pattern]),
            None if self.is_topic(index) => None,
            None => section::named(word, next),
        };
        let Some(patterns) = patterns else { return false };
        let list = if self.negation.is_negated {
            &mut self.params.exclude_paths
        } else {
            &mut self.params.include_paths
        };
        let list = list.get_or_insert_default();
        for pattern in patterns {
            if !list.contains(&pattern) {
                list.push(pattern);
            }
        }
        true
    }

    /// Returns whether a word is a preposition or its topic, not a section: `about` and `documentation` in `about the
    /// documentation`.
    fn is_topic(&self, index: usize) -> bool {
        let is_preposition = |index: usize| {
            let next = self.tokens.get(index + 1).filter(|_| !self.tokens[index].ends_clause);
            let next = next.map(|token| token.lower.as_str());
            self.word(index) == "about" && !section::is_about_page(self.word_before(index), next)
        };
        let before = (0..index)
            .rev()
            .find(|before| !matches!(self.word(*before), "the" | "a" | "an" | "our" | "their"));
        is_preposition(index) || before.is_some_and(is_preposition)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(prompt: &str, expected: &Value) {
        assert_eq!(serde_json::to_value(read(prompt).params).unwrap(), *expected, "{prompt}");
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
    fn topic_is_not_a_section() {
        let about = json!({ "includePaths": ["about/.*", "/about$"] });
        for prompt in ["the about page", "the about", "only about us", "about pages"] {
            check(prompt, &about);
        }
        for prompt in [
            "about green tea",
            "everything about the documentation",
            "articles about pricing",
            "what is it about?",
        ] {
            check(prompt, &json!({}));
        }
        check("posts about tea of the blog", &json!({ "includePaths": ["blog/.*", "/blog$"] }));
        check("the blog and about", &json!({ "includePaths": ["blog/.*", "/blog$", "about/.*", "/about$"] }));
    }

    #[test]
    fn negation_of_a_verb_ends_at_the_next_verb() {
        let (skip, external) = (
            json!({ "sitemap": "skip" }),
            |value: bool| json!({ "sitemap": "skip", "allowExternalLinks": value }),
        );
        check("do not use the sitemap, follow external links", &external(true));
        check("don't use the sitemap, but follow external links", &external(true));
        check("do not use the sitemap or follow external links", &external(false));
        check(
            "do not use the sitemap, follow external links or visit subdomains",
            &json!({
                "sitemap": "skip", "allowExternalLinks": false, "allowSubdomains": false,
            }),
        );
        // Not clear: nothing is widened.
        check("do not use the sitemap and follow external links", &skip);
        check("no need to follow external links", &json!({ "allowExternalLinks": false }));
        check("I do not want you to follow external links", &json!({ "allowExternalLinks": false }));
        check(
            "do not crawl /a and get /b",
            &json!({ "excludePaths": ["/a(/|$)"], "includePaths": ["/b(/|$)"] }),
        );
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
        check("wait two seconds between pages", &json!({ "delay": 2.0 }));
        check("pages that load within 3 seconds", &json!({}));
        check("the first ten pages, one level deep", &json!({ "limit": 10, "maxDiscoveryDepth": 1 }));
        check("two hundred pages", &json!({ "limit": 200 }));
        check("the top 40 of 1999", &json!({}));
        check("up to 99999999999999999999 pages", &json!({}));
    }

    #[test]
    fn phrases_about_hosts_sitemaps_and_queries_set_switches() {
        for prompt in
            ["the whole site", "the entire web site", "everything on the site", "all pages of this website"]
        {
            check(prompt, &json!({ "crawlEntireDomain": true }));
        }
        check("internal links only", &json!({ "allowExternalLinks": false }));
        check("stay on the same domain", &json!({ "allowExternalLinks": false }));
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
        check("only what the sitemap lists", &json!({ "sitemap": "only" }));
        check("use the sitemap", &json!({ "sitemap": "include" }));
        check("ignore query parameters", &json!({ "ignoreQueryParameters": true }));
    }

    #[test]
    fn arbitrary_prompts_are_accepted() {
        check("", &json!({}));
        check("\u{0} \u{fffd} \"\" ... /// *", &json!({}));
        let long = "/x ".repeat(2_000) + &(0..500).map(|index| format!("/p{index} ")).collect::<String>();
        assert_eq!(read(&long).params.include_paths.unwrap().len(), CRAWL_PATTERNS_MAX);
    }
}
