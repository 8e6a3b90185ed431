//! Measures the service with growing indexes of generated documents, whose word frequencies resemble natural language.
//!
//! Searches are sent one at a time, so that the times include no queueing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::connection::Connection;
use crate::load::{Load, Request};
use crate::process::Process;

/// Sizes of the indexes. The variable [`VARIABLE`] sets others, separated by commas.
const SIZES: [u64; 3] = [1_000, 10_000, 100_000];
const VARIABLE: &str = "WEBSVC_SCALE";

/// Number of different words.
const VOCABULARY: f64 = 200_000.0;

/// Words of a text: uniformly from `SHORTEST_TEXT` up to `SHORTEST_TEXT + SPREAD`.
const SHORTEST_TEXT: u64 = 50;
const SPREAD: u64 = 300;

/// Documents per host.
const DOCUMENTS_OF_HOST: u64 = 50;

/// Different queries of each kind.
const QUERIES: u64 = 400;

/// Queries contain none of the most frequent words, like queries without stop words,
const MOST_FREQUENT: u64 = 20;
/// and none of the rarest words.
const RAREST: f64 = 20_000.0;

/// Duration of the measurement of each kind of query.
const DURATION: Duration = Duration::from_secs(4);

/// Documents written per second during the searches with steady writes.
const STEADY_WRITES: u32 = 100;

/// The index has settled after this time without changes of its files. The writer becomes idle after 10 seconds.
const SETTLED_AFTER: Duration = Duration::from_secs(13);

/// Returns a query for an index of this many documents.
type QueryKind = fn(&mut Random, u64) -> String;

/// Kinds of queries, each with the name of its column.
const KINDS: [(&str, QueryKind); 4] =
    [("two words", two_words), ("phrase", phrase), ("`site:`", site), ("`-`", without)];

/// Measures an index of each size and prints a table.
pub(crate) async fn run() {
    let sizes = std::env::var(VARIABLE).map_or_else(
        |_| SIZES.to_vec(),
        |sizes| sizes.split(',').map(|size| size.trim().parse().unwrap()).collect(),
    );
    let mut rows = Vec::new();
    for documents in sizes {
        let row = measure(documents).await;
        println!("{row}");
        rows.push(row);
    }
    let kinds: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
    let columns = kinds.join(" | ");
    println!(
        "\n| documents | docs/s | MB/s | size / text | memory | {columns} | two words, {STEADY_WRITES} docs/s written | \
         two words, writing at full speed |"
    );
    println!("|---|---|---|---|---|{}---|---|", "---|".repeat(KINDS.len()));
    rows.iter().for_each(|row| println!("{row}"));
}

/// Returns the row of an index of this many documents.
async fn measure(documents: u64) -> String {
    let world = TestWeb::builder().start().await;
    let data = tempfile::tempdir().unwrap();
    let process = Process::service(&world, data.path());
    let mut connection = Connection::open(&process);
    let started = Instant::now();
    let mut text_bytes = 0;
    connection.add((0..documents).map(document).inspect(|document| text_bytes += bytes_of(document) as u64));
    connection.wait_for_documents(documents);
    let seconds = started.elapsed().as_secs_f64();
    let stats = wait_until_settled(&mut connection);
    let share = number(stats["bytes"].as_u64().unwrap()) / number(text_bytes);
    let mut cells = vec![
        documents.to_string(),
        format!("{:.0}", number(documents) / seconds),
        format!("{:.1}", number(text_bytes) / 1e6 / seconds),
        format!("{share:.2}"),
        format!("{:.0} MB", process.memory_mb()),
    ];
    for (_, query) in KINDS {
        cells.push(times(&run_queries(&process, documents, query).await));
    }
    for delay in [Duration::from_secs(1) / STEADY_WRITES, Duration::ZERO] {
        let stop = Arc::new(AtomicBool::new(false));
        let writer = write(Connection::open(&process), documents, delay, Arc::clone(&stop));
        cells.push(times(&run_queries(&process, documents, two_words).await));
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    }
    format!("| {} |", cells.join(" | "))
}

/// Sends queries of one kind, one after the other.
async fn run_queries(process: &Process, documents: u64, query: QueryKind) -> Load {
    let mut random = Random(documents);
    let queries = (0..QUERIES).map(|_| query(&mut random, documents));
    let requests: Vec<_> =
        queries.map(|query| Request::post("/v2/search", &json!({ "query": query }).to_string())).collect();
    let load = Load::run(process, 1, DURATION, &requests).await;
    assert!(load.failures == 0, "a search failed");
    load
}

fn times(load: &Load) -> String {
    let ms = |percent| load.percentile(percent).as_secs_f64() * 1e3;
    format!("{:.2} / {:.2} ms", ms(50), ms(99))
}

/// Writes documents after the first `documents` until `stop` is set. Without a delay, it writes batches of 100.
fn write(
    mut connection: Connection,
    documents: u64,
    delay: Duration,
    stop: Arc<AtomicBool>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let batch = if delay.is_zero() { 100 } else { 1 };
        let mut next = documents;
        while !stop.load(Ordering::Relaxed) {
            connection.add((next..next + batch).map(document));
            next += batch;
            std::thread::sleep(delay);
        }
    })
}

/// Waits until the files of the index no longer change: merges continue after the last document.
fn wait_until_settled(connection: &mut Connection) -> Value {
    let mut last = connection.stats();
    let mut since = Instant::now();
    while since.elapsed() < SETTLED_AFTER {
        std::thread::sleep(Duration::from_millis(200));
        let now = connection.stats();
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    last
}

fn two_words(random: &mut Random, _documents: u64) -> String {
    format!("{} {}", random.query_word(), random.query_word())
}

fn phrase(random: &mut Random, documents: u64) -> String {
    let text = text_of(random.below(documents));
    let words: Vec<&str> = text.split(' ').collect();
    let index = usize::try_from(random.below(SHORTEST_TEXT - 1)).unwrap();
    format!("\"{} {}\"", words[index], words[index + 1])
}

fn site(random: &mut Random, documents: u64) -> String {
    let host = random.below(documents) / DOCUMENTS_OF_HOST;
    format!("{} site:h{host}.test", two_words(random, documents))
}

fn without(random: &mut Random, documents: u64) -> String {
    format!("{} -{}", two_words(random, documents), random.query_word())
}

/// Returns the document with a number. The result is deterministic.
fn document(number: u64) -> Value {
    let mut random = Random(!number);
    let title: Vec<_> = (0..5).map(|_| random.word(VOCABULARY)).collect();
    json!({
        "url": format!("https://h{}.test/{number}", number / DOCUMENTS_OF_HOST),
        "title": title.join(" "),
        "body": text_of(number),
        "language": "en",
    })
}

/// Returns the text of the document with a number.
pub(crate) fn text_of(number: u64) -> String {
    let mut random = Random(number);
    let words = SHORTEST_TEXT + random.below(SPREAD);
    let words: Vec<_> = (0..words).map(|_| random.word(VOCABULARY)).collect();
    words.join(" ")
}

/// Returns the size of a document's title and text in bytes.
fn bytes_of(document: &Value) -> usize {
    let bytes = |key: &str| document[key].as_str().unwrap_or_default().len();
    bytes("title") + bytes("body")
}

#[expect(clippy::cast_precision_loss, reason = "only printed")]
fn number(count: u64) -> f64 {
    count as f64
}

/// A pseudo-random number generator with a fixed seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Returns a word with the frequencies of natural language: the n-th most frequent word has a probability
    /// proportional to 1/n (Zipf's law).
    fn word(&mut self, words: f64) -> String {
        word(self.rank(words))
    }

    fn query_word(&mut self) -> String {
        loop {
            let rank = self.rank(RAREST);
            if rank > MOST_FREQUENT {
                return word(rank);
            }
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and the number of words"
    )]
    fn rank(&mut self, words: f64) -> u64 {
        let part = number(self.next() >> 11) / number(1 << 53);
        words.powf(part) as u64
    }
}

/// Returns the word of a rank, made of syllables of a consonant and a vowel. Frequent words are short.
fn word(rank: u64) -> String {
    const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
    const VOWELS: &[u8] = b"aeiou";
    let mut rest = rank + 70;
    let mut word = String::new();
    while rest > 0 {
        let syllable = usize::try_from(rest % 70).unwrap();
        word.push(char::from(CONSONANTS[syllable / 5]));
        word.push(char::from(VOWELS[syllable % 5]));
        rest /= 70;
    }
    word
}
