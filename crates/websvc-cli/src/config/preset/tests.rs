//! Tests of the presets against responses in the form of the real APIs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_engine::{Hit, HttpJson, HttpJsonConfig, SearchSource, SourceRequest, SourceResponse};
use websvc_testkit::{Page, ReceivedRequest, TestWeb};
use websvc_transport::{Client, ClientConfig};
use websvc_validate::SourceKind;

use super::*;
use crate::config::{Config, Search};

/// A request that a preset is expected to send, and what it reads from the response.
struct Expected {
    name: &'static str,
    kind: SourceKind,
    url: &'static str,
    /// A header of the request.
    header: Option<(&'static str, &'static str)>,
    /// The body of the request; null if it has none.
    body: Value,
    /// URL, title and description of the first hit.
    first: [&'static str; 3],
    /// Day of the first hit, if it has one.
    day: Option<&'static str>,
    /// URL of the image of the first hit.
    image: Option<&'static str>,
}

/// Returns an expectation of a web search, which the fields of a row change.
const fn web(name: &'static str, url: &'static str, first: [&'static str; 3]) -> Expected {
    Expected {
        name,
        kind: SourceKind::Web,
        url,
        header: None,
        body: Value::Null,
        first,
        day: None,
        image: None,
    }
}

const DAY: Option<&str> = Some("2024-05-01");

fn expectations() -> Vec<Expected> {
    let mut all = open_web();
    all.extend(code_and_archives());
    all.extend(research());
    all.extend(images_and_news());
    all.extend(with_keys());
    all
}

fn open_web() -> Vec<Expected> {
    vec![
        web(
            "wikipedia",
            "https://en.wikipedia.org/w/rest.php/v1/search/page?q=green%20tea&limit=5",
            ["https://en.wikipedia.org/wiki/Green_tea", "Green tea", "Green tea is made from leaves"],
        ),
        Expected {
            header: Some(("api-key", "secret-MARGINALIA_API_KEY")),
            ..web(
                "marginalia",
                "https://api2.marginalia-search.com/search?query=green%20tea&count=5&page=1",
                ["https://tea.test/", "A page on tea", "Written by hand."],
            )
        },
        Expected {
            day: DAY,
            ..web(
                "stackexchange",
                "https://api.stackexchange.com/2.3/search/advanced?order=desc&sort=relevance&site=stackoverflow&filter=withbody&q=green%20tea&pagesize=5&page=1&key=secret-STACK_EXCHANGE_KEY",
                [
                    "https://stackoverflow.com/questions/1/tea",
                    "How is \"tea\" brewed?",
                    "I have leaves & water.",
                ],
            )
        },
        Expected {
            header: Some(("authorization", "Bearer secret-GITHUB_TOKEN")),
            day: DAY,
            ..web(
                "github",
                "https://api.github.com/search/repositories?q=green%20tea&per_page=5&page=1",
                ["https://github.com/leaf/green-tea", "leaf/green-tea", "Brews tea"],
            )
        },
    ]
}

fn code_and_archives() -> Vec<Expected> {
    vec![
        web(
            "mdn",
            "https://developer.mozilla.org/api/v1/search?q=green%20tea&locale=en-US&size=5&page=1",
            [
                "https://developer.mozilla.org/en-US/docs/Web/CSS/color",
                "color",
                "The color CSS property sets the foreground color.",
            ],
        ),
        Expected {
            day: DAY,
            ..web(
                "crates-io",
                "https://crates.io/api/v1/crates?q=green%20tea&per_page=5&page=1",
                ["https://crates.io/crates/green-tea", "green-tea", "Brews tea"],
            )
        },
        Expected {
            day: DAY,
            ..web(
                "npm",
                "https://registry.npmjs.org/-/v1/search?text=green%20tea&size=5&from=0",
                ["https://www.npmjs.com/package/green-tea", "green-tea", "Brews tea"],
            )
        },
        Expected {
            day: DAY,
            ..web(
                "hackernews",
                "https://hn.algolia.com/api/v1/search?tags=story&query=green%20tea&hitsPerPage=5&page=0",
                ["https://tea.test/story", "Green tea, reviewed", ""],
            )
        },
        Expected {
            day: DAY,
            ..web(
                "internet-archive",
                "https://archive.org/advancedsearch.php?q=green%20tea&fl[]=identifier&fl[]=title&fl[]=description&fl[]=publicdate&rows=5&page=1&output=json",
                ["https://archive.org/details/greentea00leaf", "The book of green tea", "A book."],
            )
        },
        web(
            "wikidata",
            "https://www.wikidata.org/w/api.php?action=wbsearchentities&search=green%20tea&language=en&uselang=en&limit=5&continue=0&format=json",
            ["https://www.wikidata.org/wiki/Q484083", "green tea", "unoxidized tea"],
        ),
    ]
}

fn research() -> Vec<Expected> {
    let dated = |expected: Expected| Expected { day: DAY, ..expected };
    vec![
        dated(web(
            "openalex",
            "https://api.openalex.org/works?search=green%20tea&per_page=5&page=1&api_key=secret-OPENALEX_API_KEY",
            ["https://doi.org/10.1000/tea", "On green tea", "Journal of Tea"],
        )),
        dated(web(
            "openalex-pdf",
            "https://api.openalex.org/works?search=green%20tea&filter=has_oa_accepted_or_published_version:true&per_page=5&page=1&api_key=secret-OPENALEX_API_KEY",
            ["https://tea.test/paper.pdf", "On green tea", "Journal of Tea"],
        )),
        Expected {
            header: Some(("accept", "application/atom+xml")),
            ..web(
                "arxiv",
                "https://export.arxiv.org/api/query?search_query=all:green%20tea&start=0&max_results=5",
                [
                    "https://arxiv.org/abs/2001.00001v2",
                    "On the brewing of green tea",
                    "We brewed $70^\\circ$ & waited.",
                ],
            )
        },
        dated(web(
            "europepmc",
            "https://www.ebi.ac.uk/europepmc/webservices/rest/search?query=green%20tea&pageSize=5&resultType=core&format=json",
            ["https://pubmed.ncbi.nlm.nih.gov/12345/", "Green tea and health.", "Aim We brewed tea."],
        )),
        Expected {
            header: Some(("x-api-key", "secret-SEMANTIC_SCHOLAR_API_KEY")),
            ..dated(web(
                "semantic-scholar",
                "https://api.semanticscholar.org/graph/v1/paper/search?query=green%20tea&limit=5&offset=0&fields=title,abstract,url,publicationDate,year",
                ["https://www.semanticscholar.org/paper/a1", "On green tea", "We brewed tea."],
            ))
        },
        web(
            "crossref",
            "https://api.crossref.org/works?query=green%20tea&rows=5&offset=0",
            ["https://doi.org/10.1000/tea", "On green tea", "We brewed tea."],
        ),
    ]
}

fn images_and_news() -> Vec<Expected> {
    let of_kind = |kind, image, expected| Expected { kind, image: Some(image), ..expected };
    vec![
        Expected {
            day: DAY,
            ..of_kind(
                SourceKind::News,
                "https://news.test/1.jpg",
                web(
                    "gdelt",
                    "https://api.gdeltproject.org/api/v2/doc/doc?query=green%20tea&mode=artlist&maxrecords=5&sort=hybridrel&format=json",
                    ["https://news.test/tea", "Tea prices rise", "news.test"],
                ),
            )
        },
        of_kind(
            SourceKind::Images,
            "https://upload.wikimedia.org/green_tea.jpg",
            web(
                "wikimedia-commons",
                "https://commons.wikimedia.org/w/api.php?action=query&generator=search&gsrnamespace=6&gsrsearch=filetype:bitmap%20green%20tea&gsrlimit=5&gsroffset=0&prop=imageinfo&iiprop=url%7Csize&format=json&formatversion=2",
                ["https://commons.wikimedia.org/wiki/File:Green_tea.jpg", "File:Green tea.jpg", ""],
            ),
        ),
        of_kind(
            SourceKind::Images,
            "https://live.test/1.jpg",
            web(
                "openverse",
                "https://api.openverse.org/v1/images/?q=green%20tea&page_size=5&page=1&mature=false",
                [
                    "https://photos.test/1",
                    "A cup of green tea",
                    "\"A cup of green tea\" by leaf is licensed under CC BY 2.0.",
                ],
            ),
        ),
        Expected {
            header: Some(("x-api-key", "secret-SERPER_API_KEY")),
            body: json!({"q": "green tea -site:excluded.test", "num": 5, "page": 1}),
            ..of_kind(
                SourceKind::Images,
                "https://tea.test/1.jpg",
                web(
                    "serper-images",
                    "https://google.serper.dev/images",
                    ["https://tea.test/green", "A cup of tea", "Tea"],
                ),
            )
        },
        Expected {
            header: Some(("x-api-key", "secret-SERPER_API_KEY")),
            body: json!({"q": "green tea -site:excluded.test", "num": 5, "page": 1}),
            ..of_kind(
                SourceKind::News,
                "https://news.test/1.jpg",
                web(
                    "serper-news",
                    "https://google.serper.dev/news",
                    ["https://news.test/tea", "Tea prices rise", "By a tenth."],
                ),
            )
        },
    ]
}

fn with_keys() -> Vec<Expected> {
    let about = "All about green tea.";
    vec![
        Expected {
            header: Some(("x-subscription-token", "secret-BRAVE_API_KEY")),
            day: DAY,
            ..web(
                "brave",
                "https://api.search.brave.com/res/v1/web/search?q=green%20tea%20-site%3Aexcluded.test&count=5&offset=0&search_lang=en&safesearch=off",
                ["https://tea.test/green", "Green tea & you", about],
            )
        },
        Expected {
            header: Some(("authorization", "Bot secret-KAGI_API_KEY")),
            day: DAY,
            ..web(
                "kagi",
                "https://kagi.com/api/v0/search?q=green%20tea%20-site%3Aexcluded.test&limit=5",
                ["https://tea.test/green", "Green tea", about],
            )
        },
        web(
            "google",
            "https://www.googleapis.com/customsearch/v1?key=secret-GOOGLE_API_KEY&cx=secret-GOOGLE_SEARCH_ENGINE_ID&q=green%20tea%20-site%3Aexcluded.test&num=5&start=1&safe=off",
            ["https://tea.test/green", "Green tea", about],
        ),
        Expected {
            header: Some(("x-api-key", "secret-SERPER_API_KEY")),
            body: json!({"q": "green tea -site:excluded.test", "num": 5, "page": 1}),
            day: DAY,
            ..web(
                "serper",
                "https://google.serper.dev/search",
                ["https://tea.test/green", "Green tea", about],
            )
        },
        Expected {
            header: Some(("x-api-key", "secret-EXA_API_KEY")),
            body: json!({"query": "green tea", "numResults": 5, "contents": {"highlights": true}}),
            day: DAY,
            ..web(
                "exa",
                "https://api.exa.ai/search",
                ["https://tea.test/green", "Green tea", "Green tea is steeped for two minutes."],
            )
        },
        Expected {
            header: Some(("authorization", "Bearer secret-TAVILY_API_KEY")),
            body: json!({"query": "green tea", "max_results": 5}),
            ..web("tavily", "https://api.tavily.com/search", ["https://tea.test/green", "Green tea", about])
        },
        Expected {
            day: DAY,
            ..web(
                "mojeek",
                "https://api.mojeek.com/search?api_key=secret-MOJEEK_API_KEY&q=green%20tea%20-site%3Aexcluded.test&t=5&s=1&safe=0&fmt=json",
                ["https://tea.test/green", "Green tea", about],
            )
        },
    ]
}

fn source(name: &str, client: Client) -> HttpJson {
    let Source::HttpJson(source) = Preset::find(name).unwrap().source else { panic!("{name}") };
    let endpoint = source.endpoint.checked(name).unwrap();
    let variable = |name: &str| Some(format!("secret-{name}"));
    let config = HttpJsonConfig::new(name.to_owned(), &source.declaration, endpoint, variable).unwrap();
    HttpJson::new(config, client)
}

async fn search(source: &HttpJson, kind: SourceKind) -> SourceResponse {
    let query = websvc_query::parse("green tea -site:excluded.test").query;
    let now = "2024-06-01T00:00:00Z".parse().unwrap();
    let new = SourceRequest::new(kind, &query, now, Instant::now() + Duration::from_secs(60));
    let request = SourceRequest { limit: 5, ..new };
    source.search(&request).await
}

fn client(world: &TestWeb) -> Client {
    let mut config = ClientConfig::new(world.guard());
    config.ca_file = Some(world.ca_file());
    Client::new(config).unwrap()
}

/// Returns the response of the real API to a search, from a file.
fn response(name: &str) -> Page {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sources");
    match std::fs::read_to_string(format!("{fixtures}/{name}.json")) {
        Ok(text) => Page::new("application/json; charset=utf-8", text),
        Err(_) => {
            let text = std::fs::read_to_string(format!("{fixtures}/{name}.xml"));
            Page::new("application/atom+xml; charset=UTF-8", text.unwrap())
        }
    }
}

fn check(expected: &Expected, request: &ReceivedRequest, hits: &[Hit]) {
    let Expected { name, kind: _, url, header, body, first, day, image } = expected;
    assert_eq!(request.url, *url, "{name}");
    if let Some((header, value)) = header {
        assert_eq!(request.header(header), Some(*value), "{name}");
    }
    let sent = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    assert_eq!(
        (sent, request.method.as_str()),
        (body.clone(), if body.is_null() { "GET" } else { "POST" }),
        "{name}"
    );
    assert_eq!(hits.len(), 2, "{name}: {hits:?}");
    let hit = &hits[0];
    assert_eq!([&*hit.url, &*hit.title, &*hit.description], *first, "{name}");
    if let Some(day) = day {
        assert_eq!(hit.date.map(|date| date.to_string()[..10].to_owned()).as_deref(), Some(*day), "{name}");
    }
    if let Some(image) = image {
        assert_eq!(hit.image.as_ref().map(|image| &*image.url), Some(*image), "{name}");
    }
}

#[tokio::test]
async fn every_preset_reads_the_responses_of_its_api() {
    let expectations = expectations();
    let mut tested: Vec<&str> = expectations.iter().map(|expected| expected.name).collect();
    tested.sort_unstable();
    let mut names: Vec<&str> = Preset::names().collect();
    names.sort_unstable();
    assert_eq!(tested, names);
    let mut world = TestWeb::builder();
    for expected in &expectations {
        world = world.page(expected.url, response(expected.name));
    }
    let world = world.start().await;
    let client = client(&world);
    for expected in &expectations {
        world.clear_requests();
        let found = search(&source(expected.name, client.clone()), expected.kind).await;
        let SourceResponse::Results { hits, warnings: _ } = found else {
            panic!("{}: {found:?}", expected.name)
        };
        check(expected, &world.requests()[0], &hits);
    }
}

#[tokio::test]
async fn failures_of_an_api_are_reported_without_its_key() {
    for (page, expected) in [
        (Page::new("application/json", "{}").status(429), "rate limited by the source (429)"),
        (Page::new("application/json", r#"{"message": "invalid key"}"#).status(401), "401"),
        (Page::new("text/html", "Your query was too short"), "text/html"),
        (Page::new("application/json", r#"{"results": 5}"#), "no list at"),
        (Page::new("application/json", "{\"results\": ["), "not valid JSON"),
    ] {
        let world = TestWeb::builder().page("https://api.exa.ai/search", page).start().await;
        let found = search(&source("exa", client(&world)), SourceKind::Web).await;
        let SourceResponse::Unavailable { failure: _, reason } = found else {
            panic!("{expected}: {found:?}")
        };
        assert!(reason.contains(expected) && !reason.contains("secret"), "{reason}");
    }
}

#[test]
fn every_file_is_a_preset() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/presets");
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    let mut files: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
    files.sort();
    let mut names: Vec<String> = Preset::names().map(|name| format!("{name}.toml")).collect();
    names.sort();
    assert_eq!(files, names);
    for preset in Preset::all() {
        let Preset { name, title, about, terms, open, keys, .. } = &preset;
        assert!(!title.is_empty() && !about.is_empty() && terms.starts_with("https://"), "{name}");
        assert!(!*open || keys.is_empty(), "{name} is open and needs a key");
        let Source::HttpJson(source) = &preset.source else { panic!("{name}") };
        source.endpoint.checked(name).unwrap();
        assert!(source.declaration.url.starts_with("https://"), "{name}");
    }
}

#[test]
fn section_is_a_configuration_with_the_source() {
    for preset in Preset::all() {
        let config: Config = toml::from_str(&preset.section()).unwrap();
        assert!(config.search.sources.contains_key(preset.name), "{}", preset.section());
        assert!(!preset.section().contains("terms ="), "metadata is left out");
    }
}

#[test]
fn presets_follow_the_configured_sources() {
    let search = |text: &str| toml::from_str::<Search>(text).unwrap().with_presets();
    let names = |search: Search| -> Vec<String> {
        search.providers.iter().map(|provider| provider.name().to_owned()).collect()
    };
    let open = names(search("presets = ['open', 'brave']").unwrap());
    assert_eq!(&open[..2], ["index", "wikipedia"]);
    assert_eq!(open.last().map(String::as_str), Some("brave"));
    assert!(!open.contains(&"crossref".to_owned()));
    assert_eq!(
        names(search("providers = ['arxiv', 'index']\npresets = ['arxiv']").unwrap()),
        ["arxiv", "index"]
    );
    let own = search(
        "presets = ['arxiv']\n[sources.arxiv]\nkind = 'http-json'\nurl = 'http://own.test'\nresults = ''\n\
         fields = { url = '/u' }",
    );
    let Source::HttpJson(source) = &own.unwrap().sources["arxiv"] else { panic!() };
    assert_eq!(source.declaration.url, "http://own.test");
    let unknown = search("presets = ['wikipeda']").unwrap_err();
    assert_eq!((unknown.name.as_str(), unknown.nearest), ("wikipeda", Some("wikipedia")));
}

#[test]
fn manual_lists_every_preset() {
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sources.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    for preset in Preset::all() {
        let Preset { name, title, terms, open, keys, optional_keys, .. } = &preset;
        let row = manual.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("docs/sources.md has no row of {name}"));
        assert!(row.contains(&format!("[{title}]({terms})")), "{row}");
        assert_eq!(row.contains("| yes |"), *open, "{row}");
        for key in keys.iter().chain(optional_keys) {
            assert!(row.contains(&format!("`{key}`")), "{row}");
        }
    }
}
