//! How the service behaves as its index grows: made-up documents whose words are as unevenly frequent as in language.
//!
//! Searches come one at a time, so that the times are those of single searches and not of a queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::ask::Connection;
use crate::load::{Load, Request};
use crate::process::Process;

/// The sizes of the indexes, unless the variable [`VARIABLE`] has others, separated by commas.
const SIZES: [u64; 3] = [1_000, 10_000, 100_000];
const VARIABLE: &str = "WEBSVC_SCALE";

/// Different words.
const VOCABULARY: f64 = 200_000.0;

/// Words of a text: from the first to the sum of both, evenly.
const SHORTEST_TEXT: u64 = 50;
const SPREAD: u64 = 300;

/// Documents of one host.
const DOCUMENTS_OF_HOST: u64 = 50;

/// Different questions of each kind.
const QUESTIONS: u64 = 400;

/// The most frequent words are left out of questions, as stop words would be.
const MOST_FREQUENT: u64 = 20;
/// And the rarest ones, which nobody would think of.
const RAREST: f64 = 20_000.0;

/// How long each kind of question is measured.
const SPAN: Duration = Duration::from_secs(4);

/// Documents written per second while searching, in the row of steady writing.
const STEADY: u32 = 100;

/// The index has settled when its files have not changed for this long; the writer rests after 10 seconds.
const QUIET: Duration = Duration::from_secs(13);

/// Makes a question about one of so many documents.
type Question = fn(&mut Chance, u64) -> String;

/// Kinds of questions, the column's name first.
const KINDS: [(&str, Question); 4] =
    [("two words", two_words), ("phrase", phrase), ("`site:`", site), ("`-`", without)];

/// Builds an index of each size and prints what it costs.
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
        "\n| documents | docs/s | MB/s | size / text | memory | {columns} | two words, {STEADY} docs/s written | \
         two words, writing at full speed |"
    );
    println!("|---|---|---|---|---|{}---|---|", "---|".repeat(KINDS.len()));
    rows.iter().for_each(|row| println!("{row}"));
}

/// Returns the row of an index of so many documents.
async fn measure(documents: u64) -> String {
    let world = TestWeb::builder().start().await;
    let data = tempfile::tempdir().unwrap();
    let process = Process::service(&world, data.path());
    let mut connection = Connection::to(&process);
    let started = Instant::now();
    let mut text_bytes = 0;
    connection.add((0..documents).map(document).inspect(|document| text_bytes += bytes_of(document) as u64));
    connection.wait_for_documents(documents);
    let seconds = started.elapsed().as_secs_f64();
    let stats = settled(&mut connection);
    let share = number(stats["bytes"].as_u64().unwrap()) / number(text_bytes);
    let mut cells = vec![
        documents.to_string(),
        format!("{:.0}", number(documents) / seconds),
        format!("{:.1}", number(text_bytes) / 1e6 / seconds),
        format!("{share:.2}"),
        format!("{:.0} MB", process.memory_mb()),
    ];
    for (_, question) in KINDS {
        cells.push(times(&ask(&process, documents, question).await));
    }
    for pause in [Duration::from_secs(1) / STEADY, Duration::ZERO] {
        let stop = Arc::new(AtomicBool::new(false));
        let writer = write(Connection::to(&process), documents, pause, Arc::clone(&stop));
        cells.push(times(&ask(&process, documents, two_words).await));
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    }
    format!("| {} |", cells.join(" | "))
}

/// Asks questions of one kind, one after the other.
async fn ask(process: &Process, documents: u64, question: Question) -> Load {
    let mut chance = Chance(documents);
    let questions = (0..QUESTIONS).map(|_| question(&mut chance, documents));
    let requests: Vec<_> =
        questions.map(|query| Request::post("/v2/search", &json!({ "query": query }).to_string())).collect();
    let load = Load::run(process, 1, SPAN, &requests).await;
    assert!(load.failures == 0, "every search is answered with 200");
    load
}

fn times(load: &Load) -> String {
    let ms = |percent| load.percentile(percent).as_secs_f64() * 1e3;
    format!("{:.2} / {:.2} ms", ms(50), ms(99))
}

/// Writes documents beyond the first `documents` until told to stop, one at a time with a pause, or without pause.
fn write(
    mut connection: Connection,
    documents: u64,
    pause: Duration,
    stop: Arc<AtomicBool>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let batch = if pause.is_zero() { 100 } else { 1 };
        let mut next = documents;
        while !stop.load(Ordering::Relaxed) {
            connection.add((next..next + batch).map(document));
            next += batch;
            std::thread::sleep(pause);
        }
    })
}

/// Waits until the files of the index no longer change: merging goes on after the last document.
fn settled(connection: &mut Connection) -> Value {
    let mut last = connection.stats();
    let mut since = Instant::now();
    while since.elapsed() < QUIET {
        std::thread::sleep(Duration::from_millis(200));
        let now = connection.stats();
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    last
}

fn two_words(chance: &mut Chance, _documents: u64) -> String {
    format!("{} {}", chance.asked_word(), chance.asked_word())
}

fn phrase(chance: &mut Chance, documents: u64) -> String {
    let text = text_of(chance.below(documents));
    let words: Vec<&str> = text.split(' ').collect();
    let at = usize::try_from(chance.below(SHORTEST_TEXT - 1)).unwrap();
    format!("\"{} {}\"", words[at], words[at + 1])
}

fn site(chance: &mut Chance, documents: u64) -> String {
    let host = chance.below(documents) / DOCUMENTS_OF_HOST;
    format!("{} site:h{host}.test", two_words(chance, documents))
}

fn without(chance: &mut Chance, documents: u64) -> String {
    format!("{} -{}", two_words(chance, documents), chance.asked_word())
}

/// Returns the document of a number; always the same one.
fn document(number: u64) -> Value {
    let mut chance = Chance(!number);
    let title: Vec<_> = (0..5).map(|_| chance.word(VOCABULARY)).collect();
    json!({
        "url": format!("https://h{}.test/{number}", number / DOCUMENTS_OF_HOST),
        "title": title.join(" "),
        "body": text_of(number),
        "language": "en",
    })
}

fn text_of(number: u64) -> String {
    let mut chance = Chance(number);
    let words = SHORTEST_TEXT + chance.below(SPREAD);
    let words: Vec<_> = (0..words).map(|_| chance.word(VOCABULARY)).collect();
    words.join(" ")
}

/// Returns the bytes of a document's title and text.
fn bytes_of(document: &Value) -> usize {
    let bytes = |key: &str| document[key].as_str().unwrap_or_default().len();
    bytes("title") + bytes("body")
}

#[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
fn number(count: u64) -> f64 {
    count as f64
}

/// A source of numbers that look random and are the same in every run (SplitMix64).
struct Chance(u64);

impl Chance {
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

    /// Returns a word as texts have them: the n-th most frequent one with a probability of about 1/n (Zipf).
    fn word(&mut self, words: f64) -> String {
        word(self.rank(words))
    }

    fn asked_word(&mut self) -> String {
        loop {
            let rank = self.rank(RAREST);
            if rank > MOST_FREQUENT {
                return word(rank);
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and the words")]
    fn rank(&mut self, words: f64) -> u64 {
        let part = number(self.next() >> 11) / number(1 << 53);
        words.powf(part) as u64
    }
}

/// Spells the word of a rank: syllables of a consonant and a vowel, short for frequent words.
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
