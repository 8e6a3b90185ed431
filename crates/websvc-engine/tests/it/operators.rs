//! The operators and filters: the tables of the embedded index, checked with it and with servers.

use std::sync::Arc;

use serde_json::json;
use websvc_engine::{
    Elasticsearch, ElasticsearchConfig, ElasticsearchDeclaration, ElasticsearchWriter, EndpointConfig,
    IndexSource, SearchSource,
};
use websvc_index::{Document, Image, Index, IndexConfig, News};
use websvc_testkit::{FakeElasticsearch, TestWeb};
use websvc_validate::{DomainFilter, SourceKind};

use crate::request::{TestRequest, client};
use crate::tables::{self, Domains, Table};

/// An engine that contains pages.
pub(crate) struct Filled {
    pub(crate) name: &'static str,
    pub(crate) source: Arc<dyn SearchSource>,
    /// It has no stemming, no query for similar texts, and no ranking by date.
    is_quickwit: bool,
    _world: Option<TestWeb>,
    _directory: Option<tempfile::TempDir>,
}

fn config(url: &str, index: &str) -> ElasticsearchConfig {
    let declaration = json!({"url": url, "index": index, "write": true});
    let declaration: ElasticsearchDeclaration = serde_json::from_value(declaration).unwrap();
    ElasticsearchConfig::new("es".to_owned(), &declaration, EndpointConfig::default(), |_| None).unwrap()
}

fn embedded(documents: Vec<Document>) -> Filled {
    let directory = tempfile::tempdir().unwrap();
    let index = Arc::new(Index::open(directory.path(), IndexConfig::default()).unwrap());
    documents.into_iter().for_each(|document| index.add(document).unwrap());
    index.flush().unwrap();
    let source = Arc::new(IndexSource::new(index));
    Filled { name: "index", source, is_quickwit: false, _world: None, _directory: Some(directory) }
}

async fn fake(name: &'static str, url: &str, server: FakeElasticsearch, documents: Vec<Document>) -> Filled {
    let world = server.serve(TestWeb::builder(), url).start().await;
    let count = documents.len() as u64;
    let written = ElasticsearchWriter::new(config(url, "pages"), client(&world)).write(documents).await;
    assert_eq!(written.written, count, "{written:?}");
    let source = Arc::new(Elasticsearch::new(config(url, "pages"), client(&world)));
    let is_quickwit = url.ends_with("_elastic");
    Filled { name, source, is_quickwit, _world: Some(world), _directory: None }
}

/// Returns every engine with the pages: the embedded index and the fakes of the servers.
pub(crate) async fn engines(documents: &[Document]) -> Vec<Filled> {
    let elastic = FakeElasticsearch::new("pages");
    let quickwit = FakeElasticsearch::new("pages").quickwit();
    let quickwit_url = "http://es.test/api/v1/_elastic";
    let mut engines = vec![
        embedded(documents.to_vec()),
        fake("elasticsearch", "http://es.test", elastic, documents.to_vec()).await,
        fake("quickwit", quickwit_url, quickwit, documents.to_vec()).await,
    ];
    engines.extend(crate::real_server::filled(documents).await.map(|source| Filled {
        name: "real server",
        source,
        is_quickwit: false,
        _world: None,
        _directory: None,
    }));
    engines
}

/// Returns the addresses that a request finds, by rank.
async fn addresses(engine: &Filled, request: &TestRequest) -> Vec<String> {
    let (hits, _) = request.hits(&*engine.source).await;
    hits.into_iter().map(|hit| hit.url.trim_start_matches("https://").to_owned()).collect()
}

async fn check_table(engine: &Filled, table: Table) {
    for (query, expected) in table {
        let mut found = addresses(engine, &TestRequest::new(SourceKind::Web, query)).await;
        found.sort_unstable();
        assert_eq!(found, *expected, "{}: {query}", engine.name);
    }
}

#[tokio::test]
async fn operators_find_the_same_pages_in_every_engine() {
    for engine in engines(&tables::operator_pages()).await {
        for table in [tables::OPERATORS, tables::PHRASES, tables::COMBINATIONS] {
            check_table(&engine, table).await;
        }
        if !engine.is_quickwit {
            check_table(&engine, tables::STEMS).await;
        }
    }
}

#[tokio::test]
async fn filters_outside_of_the_query_find_the_same_pages_in_every_engine() {
    for engine in engines(&tables::operator_pages()).await {
        for (query, filter, expected) in tables::DOMAINS {
            let hosts = |hosts: &[&str]| hosts.iter().map(|&host| host.to_owned()).collect();
            let domains = match filter {
                Domains::Include(names) => DomainFilter::Include(hosts(names)),
                Domains::Exclude(names) => DomainFilter::Exclude(hosts(names)),
            };
            let request = TestRequest { domains, ..TestRequest::new(SourceKind::Web, query) };
            assert_eq!(addresses(&engine, &request).await, *expected, "{}: {query} {filter:?}", engine.name);
        }
        for (query, tbs, expected) in tables::TIMES {
            let now = tables::NOW.parse().unwrap();
            let request = TestRequest { now, ..TestRequest::new(SourceKind::Web, query).tbs(tbs) };
            assert_eq!(addresses(&engine, &request).await, *expected, "{}: {query} {tbs}", engine.name);
        }
    }
}

#[tokio::test]
async fn related_finds_the_same_pages_in_every_engine_with_similar_texts() {
    for engine in engines(&tables::related_pages()).await {
        if engine.is_quickwit {
            let (_, warnings) =
                TestRequest::new(SourceKind::Web, "related:pots.test music").hits(&*engine.source).await;
            assert_eq!(warnings, ["source es: related: is not supported by Quickwit and was ignored"]);
            continue;
        }
        check_table(&engine, tables::RELATED).await;
        let (hits, _) = TestRequest::new(SourceKind::Images, "related:pots.test").hits(&*engine.source).await;
        let images: Vec<String> = hits.into_iter().map(|hit| hit.image.unwrap().url).collect();
        assert_eq!(images, ["https://img.test/a.png"], "{}", engine.name);
    }
}

#[tokio::test]
async fn images_and_news_are_the_same_in_every_engine() {
    let image = |name: &str, alt: &str, side: u32| Image {
        url: format!("https://img.test/{name}"),
        alt: alt.to_owned(),
        width: Some(side),
        height: Some(100),
        ..Image::default()
    };
    let page = |address: &str, title: &str, images: Vec<Image>| Document {
        url: format!("https://{address}"),
        title: title.to_owned(),
        body: format!("{title}: a text."),
        images,
        ..Document::default()
    };
    let news = News { image_url: Some("https://img.test/news.png".to_owned()) };
    let documents = [
        page(
            "a.test/",
            "Crockery",
            vec![image("cup.png", "A cup of tea", 100), image("dog.jpg", "A dog", 900)],
        ),
        page("b.test/", "Pots", vec![image("pot.png", "Green tea in a pot", 200)]),
        Document { news: Some(news), ..page("news.test/1", "Tea prices", vec![]) },
        Document { explicit: true, ..page("adult.test/", "Tea", vec![image("adult.png", "tea", 50)]) },
    ];
    let cases: &[(&str, bool, &[&str])] = &[
        ("tea", false, &["adult.png", "cup.png", "pot.png"]),
        ("tea", true, &["cup.png", "pot.png"]),
        ("tea larger:100x100", false, &["pot.png"]),
        ("imagesize:900x100", false, &["dog.jpg"]),
        ("site:a.test filetype:jpeg", false, &["dog.jpg"]),
        ("intitle:pot", false, &["pot.png"]),
        ("intitle:crockery", false, &[]),
        ("crockery", false, &["cup.png", "dog.jpg"]),
        ("inurl:pot", false, &["pot.png"]),
        ("dog inurl:cup", false, &[]),
        ("\"cup of tea\"", false, &["cup.png"]),
        ("tea -green", true, &["cup.png"]),
        ("coffee", false, &[]),
    ];
    for engine in engines(&documents).await {
        for (query, safe, expected) in cases {
            let request = TestRequest { safe: *safe, ..TestRequest::new(SourceKind::Images, query) };
            let (hits, _) = request.hits(&*engine.source).await;
            let mut images: Vec<String> = hits.into_iter().map(|hit| hit.image.unwrap().url).collect();
            images.sort_unstable();
            let expected: Vec<String> =
                expected.iter().map(|name| format!("https://img.test/{name}")).collect();
            assert_eq!(images, expected, "{}: {query}", engine.name);
        }
        let (hits, _) = TestRequest::new(SourceKind::News, "tea").hits(&*engine.source).await;
        let found: Vec<(&str, &str)> =
            hits.iter().map(|hit| (hit.url.as_str(), hit.image.as_ref().unwrap().url.as_str())).collect();
        assert_eq!(found, [("https://news.test/1", "https://img.test/news.png")], "{}", engine.name);
    }
}

#[tokio::test]
async fn misspelled_query_is_corrected_or_has_a_suggestion() {
    let documents = tables::operator_pages();
    for engine in engines(&documents).await {
        for (query, expected) in
            [("calandar", Some("calendar")), ("comdey", Some("comedy")), ("qqqqqqqq", None)]
        {
            let (_, warnings) = TestRequest::new(SourceKind::Web, query).hits(&*engine.source).await;
            let expected = expected.filter(|_| !engine.is_quickwit);
            let is_index = engine.name == "index";
            let expected = expected.map(|word| match is_index {
                // The index searches the corrected word, and a server only suggests it.
                true => format!("showing results for \"{word}\", because no page has \"{query}\""),
                false => format!("no results were found; did you mean \"{word}\"?"),
            });
            let found = warnings.first().map(|warning| warning.trim_start_matches("source es: ").to_owned());
            assert_eq!(found, expected, "{}: {query}", engine.name);
        }
    }
}

#[tokio::test]
async fn first_results_are_of_several_hosts_in_every_engine() {
    let page = |url: String, title: &str| Document {
        body: format!("Hydrangea soil. {}", url.len()),
        url,
        title: title.to_owned(),
        ..Document::default()
    };
    let crowd = (0..60).map(|at| page(format!("https://crowd.test/{at:03}"), "Hydrangea hydrangea"));
    let others = (0..12).map(|at| page(format!("https://h{at:02}.test/"), "Garden"));
    let documents: Vec<Document> = crowd.chain(others).collect();
    for engine in engines(&documents).await {
        let of_crowd = |urls: &[String]| urls.iter().filter(|url| url.starts_with("crowd.test")).count();
        let found = addresses(&engine, &TestRequest::new(SourceKind::Web, "hydrangea soil")).await;
        assert_eq!((found.len(), of_crowd(&found)), (10, 2), "{}: {found:?}", engine.name);
        let request = TestRequest { limit: 72, ..TestRequest::new(SourceKind::Web, "hydrangea soil") };
        let found = addresses(&engine, &request).await;
        assert_eq!((found.len(), of_crowd(&found[..10])), (72, 2), "{}", engine.name);
        let found = addresses(&engine, &TestRequest::new(SourceKind::Web, "soil site:crowd.test")).await;
        assert_eq!((found.len(), of_crowd(&found)), (10, 10), "{}", engine.name);
    }
}

/// Returns a page with a body.
fn page(address: &str, title: &str, body: &str) -> Document {
    Document {
        url: format!("https://{address}"),
        title: title.to_owned(),
        body: body.to_owned(),
        ..Document::default()
    }
}

#[tokio::test]
async fn other_forms_of_a_word_are_found_in_the_language_of_the_page() {
    let documents = [
        page(
            "en.test/",
            "Tea leaves",
            "The harvesters of the gardens are gathering the leaves of the tea plants.",
        ),
        page(
            "de.test/",
            "Teegärten",
            "Die Bauern sind in den Gärten und sie pflücken dort die Blätter von den Pflanzen.",
        ),
        page(
            "fr.test/",
            "Les jardins",
            "Les paysans sont dans les jardins et ils cueillent les feuilles avec les mains.",
        ),
        page(
            "es.test/",
            "Los jardines",
            "Los campesinos están en los campos y recogen las hojas de las plantas con las manos.",
        ),
        page(
            "it.test/",
            "I giardini",
            "I contadini sono nei giardini e raccolgono le foglie delle piante con le mani.",
        ),
    ];
    let cases: &[(&str, &[&str])] = &[
        ("garden", &["en.test/"]),
        ("harvester -gardens", &[]),
        ("Bauer", &["de.test/"]),
        ("paysan", &["fr.test/"]),
        ("campesino", &["es.test/"]),
        ("contadini", &["it.test/"]),
        ("intitle:leave", &["en.test/"]),
        ("intitle:jardin", &["es.test/", "fr.test/"]),
        ("\"garden\"", &[]),
        ("paysan OR campesino", &["es.test/", "fr.test/"]),
    ];
    for engine in engines(&documents).await.into_iter().filter(|engine| !engine.is_quickwit) {
        check_table(&engine, cases).await;
        let (hits, _) = TestRequest::new(SourceKind::Web, "harvester").hits(&*engine.source).await;
        assert!(hits[0].description.contains("harvesters"), "{}: {}", engine.name, hits[0].description);
    }
}

#[tokio::test]
async fn copies_of_a_page_are_one_result_in_every_engine() {
    let text = |last: &str| (0..60).map(|at| format!("tea{at} ")).collect::<String>() + last;
    let documents = [
        page("a.test/tea?session=5", "Green tea", &text("leaves")),
        page("a.test/tea", "Green tea", &text("leaves")),
        page("mirror.test/copy", "Green Tea", &text("leaf")),
        page("b.test/", "Black tea", &text("leaves")),
        page(
            "c.test/",
            "Green tea",
            "Green tea has tea7, but this is another text about it, and it is long enough.",
        ),
    ];
    for engine in engines(&documents).await {
        let mut found = addresses(&engine, &TestRequest::new(SourceKind::Web, "tea7")).await;
        found.sort_unstable();
        let (others, copies): (Vec<&str>, Vec<&str>) =
            found.iter().map(String::as_str).partition(|url| ["b.test/", "c.test/"].contains(url));
        assert_eq!((others.len(), copies.len()), (2, 1), "{}: {found:?}", engine.name);
        let request = TestRequest::new(SourceKind::Web, "tea7 site:a.test");
        assert_eq!(addresses(&engine, &request).await, ["a.test/tea"], "{}", engine.name);
        let request = TestRequest::new(SourceKind::Web, "site:a.test");
        assert_eq!(addresses(&engine, &request).await.len(), 2, "{}: it lists URLs", engine.name);
    }
}

#[tokio::test]
async fn newer_one_of_equally_relevant_pages_comes_first() {
    let dated = |address: &str, date: &str| Document {
        published: date.parse().ok(),
        ..page(address, "Tea prices", &format!("The price of tea. {}", address.len()))
    };
    let documents = [
        dated("ha.test/", "2004-01-01T00:00:00Z"),
        dated("hb.test/", "2024-05-01T00:00:00Z"),
        dated("hc.test/", "2094-05-01T00:00:00Z"),
        Document { published: None, seen: "2024-05-09T00:00:00Z".parse().ok(), ..dated("hd.test/", "") },
        dated("he.test/", "2020-01-01T00:00:00Z"),
    ];
    for engine in engines(&documents).await.into_iter().filter(|engine| !engine.is_quickwit) {
        let found = addresses(&engine, &TestRequest::new(SourceKind::Web, "tea price")).await;
        assert_eq!(found[..3], ["hb.test/", "he.test/", "ha.test/"], "{}: {found:?}", engine.name);
        assert_eq!(found.len(), 5);
    }
}
