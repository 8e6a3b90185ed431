//! Tables of queries and the pages that they find, for every engine that has all operators.
//!
//! The tests of `websvc-engine` include this file, and check the same tables with servers.

use websvc_index::{Document, Image, Link};

/// Queries, each with the addresses that it finds, sorted.
pub(crate) type Table = &'static [(&'static str, &'static [&'static str])];

/// The request time of [`TIMES`].
pub(crate) const NOW: &str = "2025-01-06T00:00:00Z";

/// A domain filter of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Domains {
    Include(&'static [&'static str]),
    Exclude(&'static [&'static str]),
}

fn page(address: &str, title: &str, body: &str) -> Document {
    Document {
        url: format!("https://{address}"),
        title: title.to_owned(),
        body: body.to_owned(),
        ..Document::default()
    }
}

/// Returns the pages of all tables except [`RELATED`].
pub(crate) fn operator_pages() -> Vec<Document> {
    let dated = |address: &str, day: &str| Document {
        published: format!("{day}T12:00:00Z").parse().ok(),
        ..page(address, "Release calendar", "When releases of the compiler appear.")
    };
    vec![
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
    ]
}

pub(crate) const OPERATORS: Table = &[
    ("site:python.org", &["docs.python.org/3/library/asyncio-task.html", "python.org/about/"]),
    ("site:docs.python.org", &["docs.python.org/3/library/asyncio-task.html"]),
    ("site:docs.python.org/3/library", &["docs.python.org/3/library/asyncio-task.html"]),
    ("site:docs.python.org/2", &[]),
    ("site:python.org/about", &["python.org/about/"]),
    ("language -site:python.org", &["notpython.org/"]),
    ("snake filetype:pdf", &["papers.test/p/17", "papers.test/p/old.pdf"]),
    ("snake -filetype:pdf", &["en.wiki.test/wiki/Monty_Python"]),
    ("inurl:wiki", &["en.wiki.test/wiki/Monty_Python"]),
    ("inurl:asyncio-task", &["docs.python.org/3/library/asyncio-task.html"]),
    ("allinurl: library asyncio", &["docs.python.org/3/library/asyncio-task.html"]),
    ("allinurl: library wiki", &[]),
    ("intitle:tasks", &["docs.python.org/3/library/asyncio-task.html"]),
    ("intitle:snakes -intitle:old", &["papers.test/p/17"]),
    ("allintitle: monty python", &["en.wiki.test/wiki/Monty_Python"]),
    ("allintitle: monty snake", &[]),
    ("intitle:\"about python\"", &["python.org/about/"]),
];

pub(crate) const PHRASES: Table = &[
    ("\"context manager\"", &["docs.python.org/3/library/asyncio-task.html"]),
    ("\"the language\"", &["notpython.org/", "python.org/about/"]),
    ("\"manager of the context\"", &["python.org/about/"]),
    ("\"snake python\"", &[]),
    ("\"awaitable\"", &[]),
    ("\"context manager\" comedy", &["docs.python.org/3/library/asyncio-task.html"]),
];

/// Words that only an engine with stemming finds.
pub(crate) const STEMS: Table = &[
    ("awaitable", &["docs.python.org/3/library/asyncio-task.html"]),
    ("intitle:task", &["docs.python.org/3/library/asyncio-task.html"]),
];

pub(crate) const COMBINATIONS: Table = &[
    ("snake -viper -comedy", &["papers.test/p/17"]),
    ("snake -\"comedy group\" -(viper OR boa)", &["papers.test/p/17"]),
    ("viper OR comedy", &["en.wiki.test/wiki/Monty_Python", "papers.test/p/old.pdf"]),
    ("(viper OR comedy) -site:papers.test", &["en.wiki.test/wiki/Monty_Python"]),
    ("site:papers.test OR site:python.org -filetype:pdf \"the language\"", &["python.org/about/"]),
    ("-snake -language -site:news.test", &["docs.python.org/3/library/asyncio-task.html"]),
    ("", &[]),
    ("\"\" - ()", &[]),
    ("???", &[]),
];

/// Queries with domain filters.
pub(crate) const DOMAINS: &[(&str, Domains, &[&str])] = &[
    ("language", Domains::Include(&["python.org"]), &["python.org/about/"]),
    ("context", Domains::Include(&["docs.python.org"]), &["docs.python.org/3/library/asyncio-task.html"]),
    ("language", Domains::Exclude(&["python.org"]), &["notpython.org/"]),
    ("language", Domains::Include(&["absent.test"]), &[]),
];

/// Queries with `tbs`, and the addresses in the order of the results.
pub(crate) const TIMES: &[(&str, &str, &[&str])] = &[
    ("releases", "qdr:w", &["news.test/2025"]),
    ("releases", "qdr:y,sbd:1", &["news.test/2025", "news.test/2024"]),
    ("releases", "sbd:1", &["news.test/2025", "news.test/2024", "news.test/2023"]),
    ("releases", "cdr:1,cd_max:02/10/2024,sbd:1", &["news.test/2024", "news.test/2023"]),
    ("snake", "cdr:1,cd_min:01/01/2000", &[]),
];

/// Returns a page with links to other addresses.
pub(crate) fn linking(page: Document, urls: &[&str]) -> Document {
    let link = |url: &&str| Link { url: format!("https://{url}"), text: String::new() };
    Document { links: urls.iter().map(link).collect(), ..page }
}

/// Returns the pages of [`RELATED`].
pub(crate) fn related_pages() -> Vec<Document> {
    let about = "Kilns and glazes: stoneware clay is fired, glazed and fired again by the potter.";
    vec![
        linking(page("pots.test/", "Pottery", about), &["friend.test/x", "pots.test/shop", "absent.test/"]),
        page("shop.pots.test/", "Shop", "Stoneware bowls with celadon glazes from our kilns."),
        page("www.friend.test/", "A friend", "Something else entirely."),
        linking(page("fan.test/", "A fan", "On music."), &["shop.pots.test/bowl"]),
        page("ceramics.test/", "Ceramics", "Of clay, glazes, kilns and stoneware: what the potter does."),
        page("clay.test/", "Clay courts", "Tennis on clay is slow."),
        page("music.test/", "Music", "Violins and other instruments, played by night."),
        page("sea.test/", "The sea", "Waves, wind and salt, as ever."),
        page("law.test/", "Law", "Courts and rulings of the year."),
        Document {
            images: vec![Image {
                url: "https://img.test/a.png".to_owned(),
                alt: "portrait".to_owned(),
                ..Image::default()
            }],
            ..linking(page("portrait.test/", "Portraits", "Faces."), &["pots.test/"])
        },
    ]
}

pub(crate) const RELATED: Table = &[
    ("related:pots.test", &["ceramics.test/", "fan.test/", "portrait.test/", "www.friend.test/"]),
    ("related:friend.test", &["pots.test/"]),
    ("related:music.test", &[]),
    ("related:nowhere.test", &[]),
    ("related:pots.test music", &["fan.test/"]),
    ("related:pots.test -site:fan.test -kilns", &["portrait.test/", "www.friend.test/"]),
    ("clay -related:pots.test", &["clay.test/", "pots.test/"]),
    ("related:friend.test OR site:sea.test", &["pots.test/", "sea.test/"]),
];
