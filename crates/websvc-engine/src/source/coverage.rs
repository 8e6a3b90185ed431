//! The part of the web that a source covers, so that a search queries only the sources that fit it.

use serde::Deserialize;
use websvc_query::{Node, Operator, Query};
use websvc_types::Category;
use websvc_validate::{DomainFilter, SourceKind};

use super::{SourceRequest, location, query_text, region};
use crate::domain::is_in_domain;

/// The language of a request that names no country and is written in the Latin script.
const DEFAULT_LANGUAGE: &str = "en";

/// A topic of web pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// Everything.
    General,
    /// Software: code, packages, questions of programmers.
    Code,
    /// Scientific publications.
    Research,
    /// Files of the type PDF.
    Pdf,
}

/// The part of the web that a source covers. An empty list means everything.
#[derive(Debug, Clone, Default)]
pub(super) struct Coverage {
    pub(super) topics: Vec<Topic>,
    /// ISO 639-1 codes; the first is the one of requests in another language.
    pub(super) languages: Vec<String>,
    /// Hosts of all results, or the domains that they are subdomains of.
    pub(super) hosts: Vec<String>,
    /// Words of which a query must have one, in lower case.
    pub(super) words: Vec<String>,
}

/// The degree to which a source fits a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFit {
    /// It may have results.
    Fits,
    /// It covers other topics than the query seems to have, or many hosts of which the query permits few. It is queried if
    /// no other source fits.
    OtherTopic,
    /// It cannot have results: it covers other hosts or languages.
    Outside,
}

impl Coverage {
    pub(super) fn fit(&self, request: &SourceRequest<'_>) -> SourceFit {
        if !self.has_language(request) {
            return SourceFit::Outside;
        }
        let permitted = permitted_hosts(request);
        if !permitted.is_empty() && !self.hosts.is_empty() {
            let has_all = permitted.iter().all(|hosts| self.has_host_of(hosts));
            return if has_all { SourceFit::Fits } else { SourceFit::Outside };
        }
        // A source of one topic is usually searched by words only, so most of its results would be removed.
        let is_lost = !permitted.is_empty() && !self.topics.is_empty();
        if !is_lost && self.has_topic(request) && self.has_word(request) {
            SourceFit::Fits
        } else {
            SourceFit::OtherTopic
        }
    }

    /// Returns the language of the source for a request: that of the request, if the source has it.
    pub(super) fn language<'a>(&'a self, request: &SourceRequest<'_>) -> Option<&'a str> {
        let wanted = request_language(request);
        let known = self.languages.iter().find(|language| *language == wanted);
        known.or(self.languages.first()).map(String::as_str)
    }

    fn has_topic(&self, request: &SourceRequest<'_>) -> bool {
        if self.topics.is_empty() || request.kind != SourceKind::Web {
            return true;
        }
        self.topics.iter().any(|topic| is_about(request, *topic))
    }

    fn has_word(&self, request: &SourceRequest<'_>) -> bool {
        if self.words.is_empty() || request.kind != SourceKind::Web {
            return true;
        }
        request.query.words().flat_map(str::split_whitespace).any(|word| {
            let word = word.trim_matches(is_punctuation).to_lowercase();
            self.words.contains(&word)
        })
    }

    fn has_language(&self, request: &SourceRequest<'_>) -> bool {
        self.languages.is_empty() || self.languages.iter().any(|known| known == request_language(request))
    }

    /// Returns whether a host of the source is one of `permitted`, or in its domain.
    fn has_host_of(&self, permitted: &[&str]) -> bool {
        self.hosts.iter().any(|host| {
            permitted.iter().any(|permitted| is_in_domain(host, permitted) || is_in_domain(permitted, host))
        })
    }
}

/// Returns whether a request is about a topic: by its categories, or else by its words.
fn is_about(request: &SourceRequest<'_>, topic: Topic) -> bool {
    if !request.categories.is_empty() {
        return request.categories.iter().any(|category| match category {
            Category::Github => topic == Topic::Code,
            Category::Research => topic == Topic::Research,
            Category::Pdf => topic == Topic::Pdf,
        });
    }
    let has_word = |is_of_topic: fn(&str) -> bool| request.query.words().any(is_of_topic);
    match topic {
        Topic::General => true,
        Topic::Code => has_word(is_code_word),
        Topic::Research => has_word(is_research_word),
        Topic::Pdf => query_text::any(
            request.query,
            |node| matches!(node, Node::Operator(Operator::FileType(extension)) if extension == "pdf"),
        ),
    }
}

/// Returns whether a word or phrase is one of programmers: a name with the signs of code, or a term.
fn is_code_word(text: &str) -> bool {
    const SIGNS: [&str; 7] = ["::", "()", "->", "=>", "#include", "</", "$_"];
    const TERMS: &str = " api async backend bash c# c++ cargo cli clippy compile compiler compiling crate crates css \
         debug debugger deprecated django docker dockerfile exception flask framework frontend git github golang gradle \
         graphql haskell html http java javascript json kotlin kubernetes linux maven mysql node.js nodejs npm numpy \
         oauth pandas php pip postgres postgresql programming pypi python react redis regex repo repository ruby rust \
         rustc sdk segfault sql sqlite stacktrace svelte terraform tokio traceback typescript vue webpack yaml ";
    const EXTENSIONS: [&str; 9] = [".rs", ".py", ".js", ".ts", ".go", ".java", ".cpp", ".toml", ".json"];
    let is_snake = text.split('_').filter(|part| !part.is_empty()).count() > 1;
    let lower = text.to_lowercase();
    is_term(TERMS, &lower)
        || is_snake
        || is_camel_case(text)
        || SIGNS.iter().any(|sign| text.contains(sign))
        || EXTENSIONS.iter().any(|extension| lower.len() > extension.len() && lower.ends_with(extension))
}

/// Returns whether a text is a name such as `useEffect` or `TypeError`, unlike `iPhone` and `McDonald`.
fn is_camel_case(text: &str) -> bool {
    let lower_len = text.bytes().take_while(u8::is_ascii_lowercase).count();
    let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_error = ["Error", "Exception"].iter().any(|end| text.len() > end.len() && text.ends_with(end));
    is_name && (is_error || lower_len > 1 && text.bytes().any(|byte| byte.is_ascii_uppercase()))
}

/// Returns whether a word or phrase is one of scientific literature.
fn is_research_word(text: &str) -> bool {
    const TERMS: &str = " arxiv biorxiv citation citations cohort doi meta-analysis paper papers peer-reviewed \
         placebo preprint preprints proceedings pubmed randomized scholar study studies theorem ";
    let lower = text.to_lowercase();
    is_term(TERMS, &lower) || lower.starts_with("10.") && lower.contains('/')
}

/// Returns whether a text has a word of a list, whose words are surrounded by spaces.
fn is_term(terms: &str, text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_matches(is_punctuation);
        !word.is_empty() && terms.contains(&format!(" {word} "))
    })
}

fn is_punctuation(character: char) -> bool {
    matches!(character, ',' | '?' | '!' | ';' | ':' | '\'' | '"')
}

/// Returns the language of a request: the main one of its country, or else the one that the script of its words suggests.
pub(super) fn request_language(request: &SourceRequest<'_>) -> &'static str {
    if let Some(language) = location::country_meant(request).and_then(region::main_language) {
        return language;
    }
    let languages = || request.query.words().flat_map(str::chars).filter_map(language_of_script);
    match languages().next() {
        // Japanese mixes Chinese characters with its own, and Ukrainian has letters that Russian lacks.
        Some("zh") if languages().any(|language| language == "ja") => "ja",
        Some("ru") if languages().any(|language| language == "uk") => "uk",
        first => first.unwrap_or(DEFAULT_LANGUAGE),
    }
}

fn language_of_script(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{370}'..='\u{3ff}' => "el",
        'і' | 'ї' | 'є' | 'ґ' => "uk",
        '\u{400}'..='\u{4ff}' => "ru",
        '\u{590}'..='\u{5ff}' => "he",
        '\u{600}'..='\u{6ff}' => "ar",
        '\u{900}'..='\u{97f}' => "hi",
        '\u{e00}'..='\u{e7f}' => "th",
        '\u{3040}'..='\u{30ff}' => "ja",
        '\u{4e00}'..='\u{9fff}' => "zh",
        '\u{ac00}'..='\u{d7af}' => "ko",
        _ => return None,
    })
}

/// Returns the lists of hosts of which every result must have one.
fn permitted_hosts<'a>(request: &SourceRequest<'a>) -> Vec<Vec<&'a str>> {
    let included = match request.domains {
        DomainFilter::Include(hosts) => Some(hosts.iter().map(String::as_str).collect()),
        DomainFilter::Any | DomainFilter::Exclude(_) => None,
    };
    hosts_of_sites(request.query).into_iter().chain(included).collect()
}

/// Returns the hosts of `site:` outside of negations, alone or as alternatives of each other.
fn hosts_of_sites(query: &Query) -> Vec<Vec<&str>> {
    let site = |node| match node {
        &Node::Operator(Operator::Site(ref site)) => Some(site.host.as_str()),
        _ => None,
    };
    let parts = match query.root() {
        Some(Node::And(children)) => children,
        Some(node) => std::slice::from_ref(node),
        None => &[],
    };
    let hosts = parts.iter().filter_map(|part| match part {
        Node::Or(children) => children.iter().map(site).collect(),
        node => site(node).map(|host| vec![host]),
    });
    hosts.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use jiff::Timestamp;

    use super::*;

    fn with_request<T>(
        query: &str,
        change: impl FnOnce(&mut SourceRequest<'_>),
        check: impl FnOnce(&SourceRequest<'_>) -> T,
    ) -> T {
        let query = websvc_query::parse(query).query;
        let mut request = SourceRequest::new(SourceKind::Web, &query, Timestamp::UNIX_EPOCH, Instant::now());
        change(&mut request);
        check(&request)
    }

    fn fit_of(coverage: &Coverage, query: &str) -> SourceFit {
        with_request(query, |_| {}, |request| coverage.fit(request))
    }

    fn topics(topics: &[Topic]) -> Coverage {
        Coverage { topics: topics.to_vec(), ..Coverage::default() }
    }

    #[test]
    fn words_decide_the_topics() {
        for (query, code, research) in [
            ("green tea", false, false),
            ("Vienna restaurants in March", false, false),
            ("McDonald opening hours", false, false),
            ("how to read a file in Rust", true, false),
            ("std::sync::Arc clone", true, false),
            ("useEffect runs twice", true, false),
            ("connection_timeout setting", true, false),
            ("main.py error", true, false),
            ("papers on graph neural networks", false, true),
            ("randomized trial of aspirin", false, true),
            ("10.1000/xyz123", false, true),
        ] {
            let expected = |is: bool| if is { SourceFit::Fits } else { SourceFit::OtherTopic };
            assert_eq!(fit_of(&topics(&[Topic::Code]), query), expected(code), "code: {query}");
            assert_eq!(fit_of(&topics(&[Topic::Research]), query), expected(research), "research: {query}");
            assert_eq!(fit_of(&topics(&[Topic::General]), query), SourceFit::Fits, "{query}");
            assert_eq!(fit_of(&Coverage::default(), query), SourceFit::Fits, "{query}");
        }
        assert_eq!(fit_of(&topics(&[Topic::Pdf]), "tea filetype:pdf"), SourceFit::Fits);
        assert_eq!(fit_of(&topics(&[Topic::Pdf]), "tea"), SourceFit::OtherTopic);
    }

    #[test]
    fn query_must_have_one_of_the_words() {
        let coverage = Coverage { words: vec!["rust".to_owned(), "crate".to_owned()], ..Coverage::default() };
        for (query, expected) in [
            ("http client in Rust?", SourceFit::Fits),
            ("\"best crate\" for dates", SourceFit::Fits),
            ("trust", SourceFit::OtherTopic),
            ("tea -rust", SourceFit::OtherTopic),
        ] {
            assert_eq!(fit_of(&coverage, query), expected, "{query}");
        }
    }

    #[test]
    fn categories_decide_the_topics_alone() {
        let fit = |topic: Topic, category: Category| {
            let coverage = topics(&[topic]);
            let change = |request: &mut SourceRequest<'_>| request.categories = [[category]].concat().leak();
            with_request("rust crates", change, |request| coverage.fit(request))
        };
        assert_eq!(fit(Topic::Research, Category::Research), SourceFit::Fits);
        assert_eq!(fit(Topic::Code, Category::Research), SourceFit::OtherTopic);
        assert_eq!(fit(Topic::General, Category::Github), SourceFit::OtherTopic);
        assert_eq!(fit(Topic::Code, Category::Github), SourceFit::Fits);
        assert_eq!(fit(Topic::Pdf, Category::Pdf), SourceFit::Fits);
    }

    #[test]
    fn topics_are_those_of_web_pages_only() {
        let coverage = topics(&[Topic::Code]);
        let news = |request: &mut SourceRequest<'_>| request.kind = SourceKind::News;
        assert_eq!(with_request("tea", news, |request| coverage.fit(request)), SourceFit::Fits);
    }

    #[test]
    fn hosts_of_the_query_must_overlap_with_those_of_the_source() {
        let coverage = Coverage { hosts: vec!["wikipedia.org".to_owned()], ..Coverage::default() };
        for (query, expected) in [
            ("tea", SourceFit::Fits),
            ("tea site:en.wikipedia.org", SourceFit::Fits),
            ("tea site:org", SourceFit::Fits),
            ("tea -site:a.test", SourceFit::Fits),
            ("tea site:a.test OR site:wikipedia.org", SourceFit::Fits),
            ("tea site:a.test OR filetype:pdf", SourceFit::Fits),
            ("tea site:a.test", SourceFit::Outside),
            ("tea site:notwikipedia.org", SourceFit::Outside),
            ("tea site:a.test OR site:b.test", SourceFit::Outside),
        ] {
            assert_eq!(fit_of(&coverage, query), expected, "{query}");
        }
        let domains = DomainFilter::Include(vec!["a.test".to_owned()]);
        let change = |request: &mut SourceRequest<'_>| request.domains = Box::leak(Box::new(domains));
        assert_eq!(with_request("tea", change, |request| coverage.fit(request)), SourceFit::Outside);
    }

    #[test]
    fn source_of_the_hosts_of_the_query_fits_whatever_its_topic() {
        let own = Coverage { hosts: vec!["a.test".to_owned()], ..topics(&[Topic::Code]) };
        assert_eq!(fit_of(&own, "tea site:a.test"), SourceFit::Fits);
        assert_eq!(fit_of(&topics(&[Topic::General]), "tea site:a.test"), SourceFit::OtherTopic);
        assert_eq!(fit_of(&Coverage::default(), "tea site:a.test"), SourceFit::Fits);
    }

    #[test]
    fn country_or_script_decides_the_language() {
        for (query, country, location, expected) in [
            ("green tea", None, None, "en"),
            ("green tea", Some("AT"), None, "de"),
            ("green tea", None, Some("Lyon, France"), "fr"),
            ("зелёный чай", None, None, "ru"),
            ("київ", None, None, "uk"),
            ("緑茶の作り方", None, None, "ja"),
            ("绿茶", None, None, "zh"),
            ("녹차", None, None, "ko"),
            ("شاي", None, None, "ar"),
        ] {
            let change = |request: &mut SourceRequest<'_>| {
                request.country = country;
                request.location = location;
            };
            assert_eq!(with_request(query, change, request_language), expected, "{query}");
        }
        let coverage = Coverage { languages: vec!["de".to_owned()], ..Coverage::default() };
        assert_eq!(fit_of(&coverage, "tea"), SourceFit::Outside);
        assert_eq!(
            with_request("tea", |request| request.country = Some("DE"), |request| coverage.fit(request)),
            SourceFit::Fits
        );
    }
}
