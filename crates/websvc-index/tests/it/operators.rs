//! The operators and filters, one by one.

use websvc_index::{Document, DomainFilter, SearchOptions};
use websvc_query::{Sort, parse_tbs};

use crate::support::{Fixture, page, time};

fn web() -> Fixture {
    let dated = |address: &str, day: &str| Document {
        published: Some(time(&format!("{day}T12:00:00Z"))),
        ..page(address, "Release calendar", "When releases of the compiler appear.")
    };
    Fixture::new([
        page(
            "docs.python.org/3/library/asyncio-task.html",
            "Coroutines and tasks",
            "Run awaitables with gather, a context manager for timeouts.",
        ),
        page(
            "python.org/about/",
            "About Python",
            "The manager of the context is a person. The language is friendly.",
        ),
        page("en.wiki.test/wiki/Monty_Python", "Monty Python", "A comedy group, not a snake."),
        Document {
            content_type: Some("application/pdf".to_owned()),
            ..page("papers.test/p/17", "Snakes", "On the python as a snake.")
        },
        page("papers.test/p/old.pdf", "Old snakes", "On the viper as a snake."),
        page("notpython.org/", "Other", "Nothing about the language here."),
        dated("news.test/2023", "2023-06-01"),
        dated("news.test/2024", "2024-02-10"),
        dated("news.test/2025", "2025-01-05"),
    ])
}

#[test]
fn operators_filter_pages() {
    let web = web();
    web.check_set("site:python.org", &["docs.python.org/3/library/asyncio-task.html", "python.org/about/"]);
    web.check_set("site:docs.python.org", &["docs.python.org/3/library/asyncio-task.html"]);
    web.check_set("site:docs.python.org/3/library", &["docs.python.org/3/library/asyncio-task.html"]);
    web.check_set("site:docs.python.org/2", &[]);
    web.check_set("site:python.org/about", &["python.org/about/"]);
    web.check_set("language -site:python.org", &["notpython.org/"]);
    web.check_set("snake filetype:pdf", &["papers.test/p/17", "papers.test/p/old.pdf"]);
    web.check_set("snake -filetype:pdf", &["en.wiki.test/wiki/Monty_Python"]);
    web.check_set("inurl:wiki", &["en.wiki.test/wiki/Monty_Python"]);
    web.check_set("inurl:asyncio-task", &["docs.python.org/3/library/asyncio-task.html"]);
    web.check_set("allinurl: library asyncio", &["docs.python.org/3/library/asyncio-task.html"]);
    web.check_set("allinurl: library wiki", &[]);
    web.check_set("intitle:task", &["docs.python.org/3/library/asyncio-task.html"]);
    web.check_set("intitle:snakes -intitle:old", &["papers.test/p/17"]);
    web.check_set("allintitle: monty python", &["en.wiki.test/wiki/Monty_Python"]);
    web.check_set("intitle:\"about python\"", &["python.org/about/"]);
}

#[test]
fn phrases_match_without_stemming() {
    let web = web();
    web.check_set("\"context manager\"", &["docs.python.org/3/library/asyncio-task.html"]);
    web.check_set("\"the language\"", &["notpython.org/", "python.org/about/"]);
    web.check_set("\"manager of the context\"", &["python.org/about/"]);
    web.check_set("\"snake python\"", &[]);
    web.check_set("\"awaitable\"", &[]);
    web.check_set("awaitable", &["docs.python.org/3/library/asyncio-task.html"]);
    web.check_set("\"context manager\" comedy", &["docs.python.org/3/library/asyncio-task.html"]);
}

#[test]
fn negation_and_alternatives_can_be_combined() {
    let web = web();
    web.check_set("snake -viper -comedy", &["papers.test/p/17"]);
    web.check_set("snake -\"comedy group\" -(viper OR boa)", &["papers.test/p/17"]);
    web.check_set("viper OR comedy", &["en.wiki.test/wiki/Monty_Python", "papers.test/p/old.pdf"]);
    web.check_set("(viper OR comedy) -site:papers.test", &["en.wiki.test/wiki/Monty_Python"]);
    web.check_set(
        "site:papers.test OR site:python.org -filetype:pdf \"the language\"",
        &["python.org/about/"],
    );
    web.check_set("-snake -language -site:news.test", &["docs.python.org/3/library/asyncio-task.html"]);
}

#[test]
fn image_operators_are_ignored_with_a_warning_in_web_search() {
    let outcome = web().search("viper larger:10x10 imagesize:3x4", &SearchOptions::default());
    assert_eq!(outcome.hits.len(), 1);
    assert_eq!(outcome.warnings.len(), 2);
    assert!(
        outcome.warnings[0].contains("\"larger:10x10\" applies to images only"),
        "{:?}",
        outcome.warnings
    );
}

#[test]
fn domain_filters_include_subdomains() {
    let hosts = |hosts: &[&str]| hosts.iter().map(|&host| host.to_owned()).collect::<Vec<_>>();
    let options = |domains| SearchOptions { domains, ..SearchOptions::default() };
    let web = web();
    web.check_with(
        "language",
        &options(DomainFilter::Include(hosts(&["python.org"]))),
        &["python.org/about/"],
    );
    web.check_with("language", &options(DomainFilter::Exclude(hosts(&["python.org"]))), &["notpython.org/"]);
    web.check_with("language", &options(DomainFilter::Include(hosts(&["absent.test"]))), &[]);
}

#[test]
fn time_ranges_filter_and_date_order_sorts() {
    let web = web();
    let options = |tbs: &str| {
        let tbs = parse_tbs(tbs).expect(tbs).expect(tbs);
        SearchOptions {
            time: tbs.range,
            sort: tbs.sort,
            now: time("2025-01-06T00:00:00Z"),
            ..SearchOptions::default()
        }
    };
    web.check_with("releases", &options("qdr:w"), &["news.test/2025"]);
    web.check_with("releases", &options("qdr:y,sbd:1"), &["news.test/2025", "news.test/2024"]);
    web.check_with("releases", &options("sbd:1"), &["news.test/2025", "news.test/2024", "news.test/2023"]);
    web.check_with(
        "releases",
        &options("cdr:1,cd_max:02/10/2024,sbd:1"),
        &["news.test/2024", "news.test/2023"],
    );
    web.check_with("snake", &options("cdr:1,cd_min:01/01/2000"), &[]);
    assert_eq!(options("sbd:1").sort, Sort::Date);
}

#[test]
fn empty_query_returns_no_hits() {
    web().check("", &[]);
    web().check("\"\" - ()", &[]);
    web().check("???", &[]);
}

#[test]
fn phrases_of_frequent_words_match_exactly() {
    // Enough documents that words are searched before phrases.
    const DOCUMENTS: usize = 2_100;
    let common = (0..DOCUMENTS).map(|number| {
        let sentence =
            if number % 2 == 0 { "a red fox may die hard" } else { "hard foxes die, a fox is red" };
        let body = format!("{sentence} {}", "word ".repeat(number % 50));
        Document { language: Some("en".to_owned()), ..page(&format!("h{number}.test/"), "Foxes", &body) }
    });
    let rare = page("rare.test/", "Foxes", "A fox red and hard may die.");
    // `die` is a stop word in German, so this page has it only in the field `exact`.
    let foreign = Document {
        language: Some("de".to_owned()),
        ..page(
            "foreign.test/",
            "Hard",
            "Sie sagt hard die und meint etwas anderes damit, was niemand versteht.",
        )
    };
    let web = Fixture::new(common.chain([rare, foreign]));

    let hits =
        |query: &str| web.search(query, &SearchOptions { limit: 100, ..SearchOptions::default() }).hits;
    let even = |url: &str| {
        url.trim_start_matches("https://h").split('.').next().unwrap().parse::<usize>().unwrap() % 2 == 0
    };
    let found = hits("\"red fox\"");
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|hit| even(&hit.url)), "{found:?}");
    assert!(hits("\"red fox\" -site:h0.test").iter().all(|hit| hit.url != "https://h0.test/"));
    web.check("\"fox red\"", &["rare.test/"]);
    web.check("\"hard die\"", &["foreign.test/"]);
    web.check("\"red hard\"", &[]);
    web.check("\"fox red\" \"may die\"", &["rare.test/"]);
}
