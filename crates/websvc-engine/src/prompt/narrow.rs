//! Narrows the options of a model to those that the words of the prompt ask for.
//!
//! A small model fills in every option of the schema. A prompt can only narrow a crawl, unless its words say otherwise: what
//! the rules recognize wins, and an option of the model needs a word of the prompt that supports it.

use websvc_types::job::{CrawlParams, SitemapMode};
use websvc_types::limits::CRAWL_LIMIT_DEFAULT;

use super::pattern::{Polarity, covers, supported};
use super::words::Reading;

/// Words for a small number of pages.
const FEW: &[&str] =
    &["few", "some", "several", "handful", "couple", "sample", "small", "quick", "quickly", "brief"];

/// The maximum number of pages that such words support.
const FEW_MAX: u64 = 100;

/// Words for a distance from the start.
const DEPTH: &[&str] = &[
    "level", "levels", "depth", "deep", "deeper", "hop", "hops", "click", "clicks", "link", "links", "layer",
    "layers", "ebenen", "niveles", "niveaux",
];

/// Words for the start alone.
const START: &[&str] = &["homepage", "landing", "frontpage", "startseite", "portada", "accueil"];

/// Words for links to other hosts.
const EXTERNAL: &[&str] = &[
    "external",
    "externals",
    "externe",
    "externen",
    "externer",
    "externes",
    "externos",
    "externas",
    "outbound",
    "outgoing",
    "offsite",
];

/// Words for others, before a noun for a site.
const OTHER: &[&str] =
    &["other", "another", "foreign", "andere", "anderen", "anderer", "autres", "otros", "otras"];

/// Words for all of something, before a noun for a site.
const WHOLE: &[&str] = &[
    "whole",
    "entire",
    "full",
    "complete",
    "all",
    "every",
    "everything",
    "gesamte",
    "ganze",
    "komplette",
    "tout",
    "toute",
    "todo",
    "toda",
    "entier",
];

/// Nouns for a site.
const SITE: &[&str] = &[
    "site",
    "sites",
    "website",
    "websites",
    "domain",
    "domains",
    "host",
    "hosts",
    "webseite",
    "webseiten",
    "seiten",
    "sitio",
    "sitios",
    "dominio",
    "domaine",
];

/// Small words between a word for all and the site.
const BETWEEN: &[&str] = &[
    "the", "this", "that", "of", "on", "in", "page", "pages", "web", "your", "our", "its", "le", "la", "el",
];

/// Words for the query of a URL.
const QUERY: &[&str] =
    &["query", "queries", "querystring", "parameter", "parameters", "params", "utm", "tracking"];

/// Words for time.
const TIME: &[&str] = &[
    "second", "seconds", "sec", "s", "ms", "minute", "minutes", "wait", "delay", "pause", "apart", "sekunde",
    "sekunden", "secondes", "segundos",
];

/// Words for a slow crawl.
const SLOW: &[&str] = &[
    "slow",
    "slowly",
    "gentle",
    "gently",
    "polite",
    "politely",
    "careful",
    "carefully",
    "langsam",
    "lentement",
    "despacio",
];

/// The maximum delay that such words support, in seconds.
const SLOW_MAX_S: f64 = 10.0;

/// The options of a model that remain, with those of the rules.
#[derive(Debug, PartialEq)]
pub(super) struct Narrowed {
    pub(super) params: CrawlParams,
    /// The names of the options that the model set otherwise.
    pub(super) dropped: Vec<&'static str>,
}

/// Returns the options of a model that the words of the prompt support. What the rules read wins.
pub(super) fn narrowed(reading: &Reading, model: &CrawlParams) -> Narrowed {
    let words = Words(reading);
    let supported = words.supported(model);
    let rules = reading.params.clone();
    let params = CrawlParams {
        include_paths: words.paths(rules.include_paths, model.include_paths.as_deref(), Polarity::Included),
        exclude_paths: words.paths(rules.exclude_paths, model.exclude_paths.as_deref(), Polarity::Excluded),
        max_discovery_depth: rules.max_discovery_depth.or(supported.max_discovery_depth),
        limit: rules.limit.or(supported.limit),
        crawl_entire_domain: rules.crawl_entire_domain.or(supported.crawl_entire_domain),
        allow_external_links: rules.allow_external_links.or(supported.allow_external_links),
        allow_subdomains: rules.allow_subdomains.or(supported.allow_subdomains),
        sitemap: rules.sitemap.or(supported.sitemap),
        ignore_query_parameters: rules.ignore_query_parameters.or(supported.ignore_query_parameters),
        delay: rules.delay.or(supported.delay),
    };
    let dropped = dropped(model, &params);
    Narrowed { params, dropped }
}

/// Returns the names of the options that a model set otherwise than the result has them. Default values do not count.
fn dropped(model: &CrawlParams, result: &CrawlParams) -> Vec<&'static str> {
    let CrawlParams {
        include_paths,
        exclude_paths,
        max_discovery_depth,
        limit,
        crawl_entire_domain,
        allow_external_links,
        allow_subdomains,
        sitemap,
        ignore_query_parameters,
        delay,
    } = model;
    let all = [
        ("includePaths", !has_all(result.include_paths.as_deref(), include_paths.as_deref())),
        ("excludePaths", !has_all(result.exclude_paths.as_deref(), exclude_paths.as_deref())),
        ("maxDiscoveryDepth", differs(max_discovery_depth, &result.max_discovery_depth, None)),
        ("limit", differs(limit, &result.limit, Some(&CRAWL_LIMIT_DEFAULT))),
        ("crawlEntireDomain", differs(crawl_entire_domain, &result.crawl_entire_domain, Some(&false))),
        ("allowExternalLinks", differs(allow_external_links, &result.allow_external_links, Some(&false))),
        ("allowSubdomains", differs(allow_subdomains, &result.allow_subdomains, Some(&false))),
        ("sitemap", differs(sitemap, &result.sitemap, Some(&SitemapMode::Include))),
        (
            "ignoreQueryParameters",
            differs(ignore_query_parameters, &result.ignore_query_parameters, Some(&false)),
        ),
        ("delay", differs(delay, &result.delay, None)),
    ];
    all.into_iter().filter(|(_, is_dropped)| *is_dropped).map(|(name, _)| name).collect()
}

fn differs<T: PartialEq>(model: &Option<T>, result: &Option<T>, default: Option<&T>) -> bool {
    model.is_some() && model.as_ref() != default && model != result
}

/// Returns whether a list has all patterns of another.
fn has_all(result: Option<&[String]>, model: Option<&[String]>) -> bool {
    let result = result.unwrap_or_default();
    model.unwrap_or_default().iter().all(|pattern| result.contains(pattern))
}

/// The words of a prompt, for questions about what they support.
struct Words<'a>(&'a Reading);

impl Words<'_> {
    /// Returns the options of a model that words support, without the patterns of paths.
    fn supported(&self, model: &CrawlParams) -> CrawlParams {
        let on = |switch: Option<bool>, is_supported: bool| switch.filter(|is_on| *is_on && is_supported);
        CrawlParams {
            include_paths: None,
            exclude_paths: None,
            max_discovery_depth: model.max_discovery_depth.filter(|depth| self.support_depth(*depth)),
            limit: model.limit.filter(|limit| self.support_limit(*limit)),
            crawl_entire_domain: on(model.crawl_entire_domain, self.has_before_site(WHOLE)),
            allow_external_links: on(model.allow_external_links, self.support_external_links()),
            allow_subdomains: on(model.allow_subdomains, self.support_subdomains()),
            // The rules read every sentence about sitemaps.
            sitemap: None,
            ignore_query_parameters: on(model.ignore_query_parameters, self.has(QUERY)),
            delay: model.delay.filter(|delay| self.support_delay(*delay)),
        }
    }

    /// Returns whether the prompt has one of these words where nothing is excluded.
    fn has(&self, list: &[&str]) -> bool {
        self.parts().any(|(part, is_negated)| !is_negated && list.contains(&part))
    }

    /// Returns the parts of the words, such as those of `off-site`.
    fn parts(&self) -> impl Iterator<Item = (&str, bool)> {
        let words = self.0.words.iter();
        words.flat_map(|(word, is_negated)| {
            word.split(|c: char| !c.is_alphanumeric()).map(|part| (part, *is_negated))
        })
    }

    /// Returns whether one of these words is followed by one for a site, with only small words between.
    fn has_before_site(&self, list: &[&str]) -> bool {
        let mut is_open = false;
        for (part, is_negated) in self.parts() {
            if is_open && SITE.contains(&part) && !is_negated {
                return true;
            }
            is_open = list.contains(&part) && !is_negated || is_open && BETWEEN.contains(&part);
        }
        false
    }

    /// Returns the patterns that remain: those of the rules, unless all patterns of the model are supported and name the same
    /// sections. Without rules, the supported ones.
    fn paths(
        &self,
        rules: Option<Vec<String>>,
        model: Option<&[String]>,
        polarity: Polarity,
    ) -> Option<Vec<String>> {
        let model = model.unwrap_or_default();
        let is_supported = |pattern: &&String| supported(pattern, &self.0.words, polarity);
        match rules {
            Some(rules) => {
                let is_better = !model.is_empty()
                    && model.iter().all(|pattern| is_supported(&pattern))
                    && rules.iter().all(|rule| covers(model, rule));
                Some(if is_better { model.to_vec() } else { rules })
            }
            None => {
                let supported: Vec<String> = model.iter().filter(is_supported).cloned().collect();
                (!supported.is_empty()).then_some(supported)
            }
        }
    }

    /// Returns whether the prompt has a number that the rules did not read as another option.
    fn has_number(&self, number: f64) -> bool {
        let CrawlParams { max_discovery_depth, limit, delay, .. } = &self.0.params;
        let read = [max_discovery_depth.map(f64::from), limit.map(|limit| limit as f64), *delay];
        let is_number = |other: f64| (other - number).abs() < 1e-9;
        let count = self.0.numbers.iter().filter(|other| is_number(**other)).count();
        count > read.into_iter().flatten().filter(|other| is_number(*other)).count()
    }

    fn support_depth(&self, depth: u32) -> bool {
        self.has_number(f64::from(depth)) && self.has(DEPTH) || depth <= 1 && self.has(START)
    }

    fn support_limit(&self, limit: u64) -> bool {
        self.has_number(limit as f64) || limit <= FEW_MAX && self.has(FEW)
    }

    fn support_external_links(&self) -> bool {
        self.has(EXTERNAL) || self.has_before_site(OTHER)
    }

    fn support_subdomains(&self) -> bool {
        self.parts().any(|(part, is_negated)| {
            !is_negated && (part.starts_with("subdom") || part.starts_with("subdomä"))
        })
    }

    fn support_delay(&self, delay: f64) -> bool {
        self.has_number(delay) && self.has(TIME) || delay <= SLOW_MAX_S && self.has(SLOW)
    }
}
