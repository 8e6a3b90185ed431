//! The search by meaning, with an encoder whose vectors are known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use websvc_index::{
    Document, EmbeddingProgress, EncodeError, Index, IndexConfig, PassageEncoder, SearchOptions,
    SearchOutcome, SemanticConfig,
};

use crate::support::{include, page, tbs};

/// Groups of words with the same meaning. Each has a dimension of its own.
const TOPICS: [&[&str]; 4] = [
    &["car", "automobile", "vehicle", "repair", "mechanic"],
    &["tea", "beverage", "infusion", "kettle"],
    &["otter", "beaver", "river"],
    &["opera", "singer", "aria"],
];

/// An encoder that counts the words of each topic. Its last dimension is the same for all texts.
#[derive(Debug, Default)]
struct TopicEncoder {
    name: &'static str,
    fails: AtomicBool,
    passages: AtomicUsize,
    queries: AtomicUsize,
}

impl TopicEncoder {
    fn encode(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(EncodeError("it fails".to_owned()));
        }
        let text = text.to_lowercase();
        let words = || text.split(|c: char| !c.is_alphanumeric());
        let mut vector: Vec<f32> =
            TOPICS.iter().map(|topic| words().filter(|word| topic.contains(word)).count() as f32).collect();
        vector.push(0.2);
        Ok(vector)
    }
}

impl PassageEncoder for TopicEncoder {
    fn identity(&self) -> Result<String, EncodeError> {
        Ok(self.name.to_owned())
    }

    fn encode_query(&self, query: &str, _deadline: Option<Instant>) -> Result<Vec<f32>, EncodeError> {
        self.queries.fetch_add(1, Ordering::Relaxed);
        self.encode(query)
    }

    fn encode_passages(&self, passages: &[String]) -> Result<Vec<Vec<f32>>, EncodeError> {
        self.passages.fetch_add(passages.len(), Ordering::Relaxed);
        passages.iter().map(|passage| self.encode(passage)).collect()
    }
}

/// An index with an encoder.
struct Fixture {
    encoder: Arc<TopicEncoder>,
    dir: tempfile::TempDir,
    index: Index,
}

impl Fixture {
    fn new(documents: Vec<Document>) -> Self {
        let encoder = Arc::new(TopicEncoder { name: "topics", ..TopicEncoder::default() });
        let dir = tempfile::tempdir().expect("a temporary directory");
        let index = open(&dir, &encoder, |_| ());
        documents.into_iter().for_each(|document| index.add(document).expect("a valid document"));
        index.flush().expect("a working disk");
        Self { encoder, dir, index }
    }

    /// Creates the index and encodes its pages.
    fn encoded(documents: Vec<Document>) -> Self {
        let fixture = Self::new(documents);
        fixture.embed();
        fixture
    }

    fn embed(&self) -> EmbeddingProgress {
        self.index.embed(|_| ()).expect("a working encoder").expect("no other thread encodes")
    }

    /// Opens the index again, with other settings.
    fn reopen(self, change: impl FnOnce(&mut SemanticConfig)) -> Self {
        let Self { encoder, dir, index } = self;
        index.close().expect("a working disk");
        let index = open(&dir, &encoder, change);
        Self { encoder, dir, index }
    }

    fn search(&self, query: &str, options: &SearchOptions) -> SearchOutcome {
        self.index.search(&websvc_query::parse(query).query, options).expect("a readable index")
    }

    fn finds(&self, query: &str) -> Vec<String> {
        names(&self.search(query, &SearchOptions::default()))
    }
}

fn open(
    dir: &tempfile::TempDir,
    encoder: &Arc<TopicEncoder>,
    change: impl FnOnce(&mut SemanticConfig),
) -> Index {
    let encoder: Arc<dyn PassageEncoder> = Arc::<TopicEncoder>::clone(encoder);
    let mut semantic = SemanticConfig { cpu_percent: 100, ..SemanticConfig::new(encoder) };
    change(&mut semantic);
    Index::open(dir.path(), IndexConfig { semantic: Some(semantic), ..IndexConfig::default() })
        .expect("a readable index")
}

/// Returns the first labels of the hosts of the hits.
fn names(outcome: &SearchOutcome) -> Vec<String> {
    let name =
        |url: &str| url.trim_start_matches("https://").split('.').next().unwrap_or_default().to_owned();
    outcome.hits.iter().map(|hit| name(&hit.url)).collect()
}

/// Pages about the topics, each with a date and a word of its own.
fn pages() -> Vec<Document> {
    let text = |name: &str, title: &str, body: &str| page(&format!("{name}.test/page"), title, body);
    vec![
        text("garage", "Automobile repair", "A mechanic mends your automobile the same day."),
        text("cafe", "Infusion menu", "Each beverage comes from a fresh kettle."),
        text("zoo", "Beaver dams", "The beaver builds on the river."),
        text("stage", "An aria", "The singer begins the aria."),
    ]
}

#[test]
fn page_is_found_by_its_meaning_without_words_of_the_query() {
    let fixture = Fixture::new(pages());
    assert!(fixture.finds("car").is_empty(), "no page has the word");
    assert_eq!(fixture.embed(), EmbeddingProgress { pages: 4, total: 4 });
    assert_eq!(fixture.finds("car"), ["garage"]);
    assert_eq!(fixture.finds("otter"), ["zoo"]);
    let outcome = fixture.search("opera", &SearchOptions::default());
    assert_eq!(names(&outcome), ["stage"]);
    assert!(outcome.hits[0].description.contains("singer begins"), "{:?}", outcome.hits[0]);
    assert!(outcome.warnings.is_empty());
}

#[test]
fn meaning_changes_the_order_of_pages_with_the_words() {
    let mut documents = pages();
    documents.push(page("list.test/page", "Fresh", "fresh fresh fresh menu"));
    documents.push(page("kiosk.test/page", "Shop", "We have fresh beverage: one infusion from the kettle."));
    let by_words = Fixture::new(documents.clone()).finds("fresh tea");
    assert_eq!(by_words[0], "list", "{by_words:?}");
    let by_meaning = Fixture::encoded(documents).finds("fresh tea");
    assert!(["kiosk", "cafe"].contains(&by_meaning[0].as_str()), "{by_meaning:?}");
    assert!(by_meaning.contains(&"list".to_owned()), "a page with the words is still found: {by_meaning:?}");
}

#[test]
fn filters_and_operators_hold_for_pages_that_are_found_by_meaning() {
    let mut documents = pages();
    documents[0].published = Some("2024-12-30T00:00:00Z".parse().unwrap());
    documents.push(page("old.test/page", "Automobile", "A vehicle of the last century, used."));
    documents[4].published = Some("1999-01-01T00:00:00Z".parse().unwrap());
    let fixture = Fixture::encoded(documents);
    let mut found = fixture.finds("car");
    found.sort();
    assert_eq!(found, ["garage", "old"]);
    assert_eq!(fixture.finds("car site:old.test"), ["old"]);
    assert_eq!(fixture.finds("car -site:old.test"), ["garage"]);
    assert_eq!(fixture.finds("car -century"), ["garage"]);
    assert_eq!(fixture.finds("car \"last century\""), ["old"]);
    assert_eq!(fixture.finds("car intitle:repair"), ["garage"]);
    let only = |hosts: &[&str]| SearchOptions { domains: include(hosts), ..SearchOptions::default() };
    assert_eq!(names(&fixture.search("car", &only(&["old.test"]))), ["old"]);
    assert!(names(&fixture.search("car", &only(&["cafe.test"]))).is_empty());
    assert_eq!(names(&fixture.search("car", &tbs("qdr:w"))), ["garage"]);
    assert!(fixture.finds("\"car\"").is_empty(), "a phrase means its words");
}

#[test]
fn limit_does_not_change_the_order() {
    let mut documents = Vec::new();
    for number in 0..90 {
        let words = TOPICS[number % 4][number % 3];
        let body = format!(
            "{} {} common word{number}",
            format!("{words} ").repeat(number % 7 + 1),
            "x ".repeat(number)
        );
        documents.push(page(&format!("h{number}.test/page"), &format!("Page {number}"), &body));
    }
    let fixture = Fixture::encoded(documents);
    let all =
        names(&fixture.search("common car tea", &SearchOptions { limit: 60, ..SearchOptions::default() }));
    for limit in [1, 5, 10, 30] {
        let first =
            names(&fixture.search("common car tea", &SearchOptions { limit, ..SearchOptions::default() }));
        assert_eq!(first, all[..limit], "{limit}");
    }
}

#[test]
fn changed_page_gets_new_vectors_and_those_of_a_removed_page_are_erased() {
    let fixture = Fixture::encoded(pages());
    fixture.index.add(page("garage.test/page", "Tea", "A kettle of infusion.")).unwrap();
    fixture.index.remove("https://zoo.test/page").unwrap();
    fixture.index.flush().unwrap();
    assert_eq!(fixture.finds("otter"), Vec::<String>::new(), "a removed page is not found");
    assert!(fixture.finds("car").is_empty(), "the old content is not found");
    assert_eq!(fixture.embed(), EmbeddingProgress { pages: 1, total: 1 });
    let stats = fixture.index.semantic_stats().unwrap();
    assert_eq!((stats.pages, stats.vectors), (3, 3), "{stats:?}");
    let mut found = fixture.finds("beverage in a mug");
    found.sort();
    assert_eq!(found, ["cafe", "garage"]);
    let vectors = std::fs::read(fixture.dir.path().join("vectors/vectors.1")).unwrap();
    let rows: Vec<&[u8]> = vectors.chunks(4 + TOPICS.len() + 1).collect();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows.iter().filter(|row| row.iter().all(|byte| *byte == 0)).count(), 2, "{rows:?}");
}

#[test]
fn vectors_are_kept_when_the_index_is_opened_again_and_encoding_is_resumed() {
    let fixture = Fixture::encoded(pages()).reopen(|_| ());
    assert_eq!(fixture.finds("car"), ["garage"]);
    fixture.index.add(page("new.test/page", "Vehicle", "An automobile.")).unwrap();
    fixture.index.flush().unwrap();
    assert_eq!(fixture.embed(), EmbeddingProgress { pages: 1, total: 1 });
    assert_eq!(fixture.encoder.passages.load(Ordering::Relaxed), 5);
    // A killed process may leave a vector without its key, or a part of a key.
    let grow = |name: &str, bytes: &[u8]| {
        let path = fixture.dir.path().join("vectors").join(name);
        let content = [std::fs::read(&path).unwrap().as_slice(), bytes].concat();
        std::fs::write(path, content).unwrap();
    };
    grow("vectors.1", &[7; 12]);
    grow("keys.1", &[7; 3]);
    let fixture = fixture.reopen(|_| ());
    fixture.index.add(page("last.test/page", "River", "An otter.")).unwrap();
    fixture.index.flush().unwrap();
    assert_eq!(fixture.embed(), EmbeddingProgress { pages: 1, total: 1 });
    let mut found = fixture.finds("beaver");
    found.sort();
    assert_eq!(found, ["last", "zoo"]);
}

#[test]
fn vectors_of_another_model_are_discarded() {
    let mut fixture = Fixture::encoded(pages());
    fixture.encoder = Arc::new(TopicEncoder { name: "others", ..TopicEncoder::default() });
    let fixture = fixture.reopen(|_| ());
    assert_eq!(fixture.embed(), EmbeddingProgress { pages: 4, total: 4 });
    assert_eq!(fixture.index.semantic_stats().unwrap().vectors, 4);
    assert_eq!(fixture.finds("car"), ["garage"]);
}

#[test]
fn search_is_one_by_words_while_the_encoder_fails() {
    let fixture = Fixture::encoded(pages());
    fixture.encoder.fails.store(true, Ordering::Relaxed);
    let outcome = fixture.search("automobile", &SearchOptions::default());
    assert_eq!(names(&outcome), ["garage"]);
    assert!(outcome.warnings[0].contains("by words alone"), "{:?}", outcome.warnings);
    assert_eq!(fixture.index.semantic_stats().unwrap().fallbacks, 1);
    fixture.index.add(page("new.test/page", "Vehicle", "An automobile.")).unwrap();
    fixture.index.flush().unwrap();
    assert!(fixture.index.embed(|_| ()).is_err());
    fixture.encoder.fails.store(false, Ordering::Relaxed);
    assert_eq!(fixture.embed(), EmbeddingProgress { pages: 1, total: 1 });
}

#[test]
fn large_index_ranks_the_candidates_of_the_words_by_their_meaning() {
    let mut documents = pages();
    documents.push(page("list.test/page", "Fresh", "fresh fresh fresh menu"));
    documents.push(page("kiosk.test/page", "Shop", "We have fresh beverage: one infusion from the kettle."));
    let fixture = Fixture::encoded(documents).reopen(|config| config.max_compared = 3);
    assert!(fixture.index.semantic_stats().unwrap().is_beyond_comparison);
    assert!(fixture.finds("car").is_empty(), "only pages with the words are candidates");
    let found = fixture.finds("fresh tea");
    assert!(["kiosk", "cafe"].contains(&found[0].as_str()), "{found:?}");
}

#[test]
fn long_page_is_found_by_its_later_passages_up_to_the_maximum() {
    let filler =
        |topic: usize| vec!["lorem"; 150].join(" ") + "\n" + &vec![TOPICS[topic][1]; 60].join(" ") + "\n";
    let body = [filler(0), filler(1), filler(2)].concat();
    let mut documents = pages();
    documents.truncate(1);
    documents.push(page("long.test/page", "Long", &body));
    let fixture = Fixture::encoded(documents);
    assert!(fixture.index.semantic_stats().unwrap().vectors > 3);
    assert_eq!(fixture.finds("kettle"), ["long"]);
    let short = fixture.reopen(|config| config.max_passages = 1);
    let (before, stats) =
        (short.encoder.queries.load(Ordering::Relaxed), short.index.semantic_stats().unwrap());
    assert_eq!((stats.pages, before), (2, 1), "the vectors stay until the page changes");
}

#[test]
fn query_is_encoded_once_and_not_for_an_index_without_vectors() {
    let fixture = Fixture::new(pages());
    fixture.finds("car");
    assert_eq!(fixture.encoder.queries.load(Ordering::Relaxed), 0);
    fixture.embed();
    for _ in 0..3 {
        fixture.finds("car");
    }
    fixture.finds("site:zoo.test");
    assert_eq!(fixture.encoder.queries.load(Ordering::Relaxed), 1);
}

#[test]
fn pages_are_encoded_in_the_background() {
    let fixture = Fixture::new(pages()).reopen(|config| config.encodes = true);
    let deadline = Instant::now() + Duration::from_secs(60);
    while fixture.finds("car").is_empty() {
        assert!(Instant::now() < deadline, "not encoded within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(fixture.finds("car"), ["garage"]);
}

#[test]
fn vectors_do_not_bring_back_a_removed_index() {
    let fixture = Fixture::new(pages());
    let path = fixture.dir.path().to_owned();
    std::fs::remove_dir_all(&path).unwrap();
    fixture.index.embed(|_| ()).unwrap_err();
    assert!(!path.exists());
}

#[test]
fn empty_rows_are_removed_when_they_are_many() {
    let text = |number: usize| page(&format!("h{number}.test/page"), "Tea", &format!("kettle {number}"));
    let fixture = Fixture::encoded((0..1_600).map(text).collect());
    for number in 0..1_200 {
        fixture.index.remove(&format!("https://h{number}.test/page")).unwrap();
    }
    fixture.index.flush().unwrap();
    let before = fixture.index.semantic_stats().unwrap();
    fixture.embed();
    let after = fixture.index.semantic_stats().unwrap();
    assert_eq!((before.vectors, after.vectors, after.bytes), (1_600, 400, before.bytes / 4));
    assert!(!fixture.dir.path().join("vectors/vectors.1").exists());
    assert_eq!(
        fixture.search("beverage", &SearchOptions { limit: 5, ..SearchOptions::default() }).hits.len(),
        5
    );
}
