//! Tests of pages and documents that expand enormously: the service stays within its memory and continues.
//!
//! The tests bound the resident memory: the peak during a request (`VmHWM`, which is reset before each request) may be
//! 256 MB above the value before. Memory that is reserved but not used does not count. To protect the machine,
//! `RLIMIT_DATA` is set to four times as much above the idle service. A process that allocates more aborts, and the
//! test fails.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use websvc_testkit::{Coding, Page, TestWeb, is_proof};

use crate::harness::Service;

/// Memory that one request may add to an idle service.
const MAX_ADDED_BYTES: u64 = 256 * 1024 * 1024;
/// Timeout in which every page can be read completely.
const PAGE_TIMEOUT: Duration = Duration::from_secs(120);
/// Timeout for documents: some of them keep a worker busy until it is stopped.
const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(10);
const MEBIBYTE: usize = 1024 * 1024;

/// The expected outcome of a bomb: a part of the result's error, of the warning, or of the markdown.
enum Outcome {
    Error(&'static str),
    Warning(&'static str),
    Text(&'static str),
    /// An error or partial content.
    Any,
}
use Outcome::{Any, Error, Text, Warning};

/// A running service whose index contains the bombs.
struct BombTest {
    service: Service,
    _world: TestWeb,
}

impl BombTest {
    async fn new(bombs: &[(&'static str, Page, Outcome)]) -> Self {
        let mut world = TestWeb::builder();
        for (name, page, _) in bombs {
            world = world.page(&format!("http://bombs.test/{name}"), page.clone());
        }
        let world = world.page("http://bombs.test/small", Page::html("<p>A small page.")).start().await;
        let service = Service::for_world(&world);
        let urls: Vec<String> = bombs.iter().map(|(name, ..)| format!("http://bombs.test/{name}")).collect();
        let names = bombs.iter().map(|(name, ..)| *name);
        let mut pages: Vec<(&str, &str)> = names.zip(urls.iter().map(String::as_str)).collect();
        pages.push(("small", "http://bombs.test/small"));
        service.index_pages(&pages).await;
        let test = Self { service, _world: world };
        // The first page allocates what the service needs only once.
        test.scrape("small", PAGE_TIMEOUT).await;
        test
    }

    /// Scrapes the page that a word finds, in several formats.
    async fn scrape(&self, word: &str, timeout: Duration) -> Value {
        let timeout = u64::try_from(timeout.as_millis()).unwrap();
        let formats = json!(["markdown", "html", "rawHtml", "links", "images"]);
        let options = json!({"formats": formats, "timeout": timeout, "maxAge": 0});
        let search = json!({"query": word, "limit": 1, "timeout": timeout, "scrapeOptions": options});
        let response = self.service.search(search).await;
        assert_eq!(response.status, 200, "{word}: {}", response.body);
        response.body
    }

    /// Returns a memory value of `/proc/PID/status` in bytes.
    fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.service.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// Limits the memory that the process can allocate.
    fn limit_memory(&self) {
        let max = self.memory("VmData") + 4 * MAX_ADDED_BYTES;
        let id = Pid::from_raw(i32::try_from(self.service.id()).unwrap()).unwrap();
        let limit = Rlimit { current: Some(max), maximum: Some(max) };
        prlimit(Some(id), Resource::Data, limit).unwrap();
    }

    /// Resets the peak, and returns the current resident memory.
    fn reset_peak(&self) -> u64 {
        std::fs::write(format!("/proc/{}/clear_refs", self.service.id()), "5").unwrap();
        self.memory("VmRSS")
    }
}

/// Scrapes each bomb, and checks the response, the memory, and that the service still works afterwards.
async fn check_bombs(timeout: Duration, bombs: Vec<(&'static str, Page, Outcome)>) {
    let test = BombTest::new(&bombs).await;
    test.limit_memory();
    for (name, _, outcome) in &bombs {
        let idle = test.reset_peak();
        let started = Instant::now();
        let body = test.scrape(name, timeout).await;
        let peak = test.memory("VmHWM");
        let elapsed = started.elapsed();
        println!("{name}: {} MB above idle, {elapsed:.1?}", peak.saturating_sub(idle) / 1_000_000);
        assert!(peak < idle + MAX_ADDED_BYTES, "{name}: {idle} bytes before, peak {peak}");
        let result = &body["data"]["web"][0];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (actual, expected) = match outcome {
            Error(part) => (text(&result["metadata"]["error"]), part),
            Warning(part) => (text(&body["warning"]), part),
            Text(part) => (text(&result["markdown"]), part),
            Any => continue,
        };
        assert!(actual.contains(expected), "{name}: {actual:.300}, {}", result["metadata"]["error"]);
    }
    let body = test.scrape("small", PAGE_TIMEOUT).await;
    assert_eq!(
        body["data"]["web"][0]["markdown"],
        json!("A small page.\n"),
        "the service does not scrape a small page"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn document_bombs_stay_within_256_mb() {
    let pdf = |body: String| Page::new("application/pdf", format!("%PDF-1.7\n{body}"));
    let page = "2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n";
    let end = "trailer << /Root 1 0 R >>\n%%EOF";
    let pdf_page = |content: &[u8], entries: &str| {
        let mut file = format!(
            "%PDF-1.7\n{page}3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >> endobj\n\
             4 0 obj << /Length {} {entries} >>\nstream\n",
            content.len()
        )
        .into_bytes();
        file.extend(content);
        file.extend(format!("\nendstream endobj\n{end}").bytes());
        Page::new("application/pdf", file)
    };
    let zeros = vec![b' '; 300 * MEBIBYTE];
    let packed = Coding::Deflate.encode(&zeros);
    let twice = Coding::Deflate.encode(&packed);
    let image = "BI /W 100000 /H 100000 /BPC 8 /CS /RGB ID x EI ".repeat(1_000);
    let kids: String = (0..200_000).map(|_| "2 0 R ").collect();
    let nested = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let office = |name: &str, text: &[u8], size: u32| {
        let types = b"<?xml version=\"1.0\"?><Types/>".as_slice();
        Page::new(
            "application/octet-stream",
            deflated(&[("[Content_Types].xml", types, 0), (name, text, size)]),
        )
    };
    let word = repeated("<w:p><w:r><w:t>x</w:t></w:r></w:p>", 200 * MEBIBYTE);
    let word = format!(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>{word}"
    );
    let entities = (1..30).fold("<!ENTITY e0 \"lol\">".to_owned(), |text, n| {
        format!("{text}<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10))
    });
    let laughs = format!(
        "<!DOCTYPE w [{entities}]><w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\
         <w:body><w:p><w:r><w:t>&e29;</w:t></w:r></w:p></w:body></w:document>"
    );
    drop(zeros);
    let mut bombs = vec![
        ("inflating", pdf_page(&packed, "/Filter /FlateDecode"), Any),
        ("images", pdf_page(image.as_bytes(), ""), Any),
        (
            "itself",
            pdf(format!(
                "1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n\
        2 0 obj << /Type /Pages /Kids [{kids}] /Count 2000000000 >> endobj\n{end}"
            )),
            Any,
        ),
        ("arrays", pdf(format!("1 0 obj << /Type /Catalog /Pages {nested} >> endobj\n{end}")), Any),
        ("zipped", office("word/document.xml", word.as_bytes(), 0), Any),
        ("lying", office("word/document.xml", b"<w:document/>", u32::MAX), Any),
        ("laughs", office("word/document.xml", laughs.as_bytes(), 0), Any),
        ("bitmap", Page::new("image/png", huge_png()), Error("not supported")),
        ("sheet", Page::new("text/csv", repeated("a,b,c\n", 19 * MEBIBYTE)), Any),
    ];
    if is_proof() {
        bombs.push(("chained", pdf_page(&twice, "/Filter [/FlateDecode /FlateDecode]"), Any));
    }
    check_bombs(DOCUMENT_TIMEOUT, bombs).await;
}

/// Returns the header of a PNG with two billion pixels on each side.
fn huge_png() -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x06\0\0\0".to_vec();
    png.extend(vec![0; 1_000]);
    png
}

/// Returns a ZIP archive of files, given as name, content and declared size. Size 0 declares the real size.
fn deflated(files: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, text, declared) in files {
        let packed = Coding::RawDeflate.encode(text);
        let mut sum = flate2::Crc::new();
        sum.update(text);
        let size = |bytes: usize| u32::try_from(bytes).unwrap();
        let mut common = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
        let plain = if *declared == 0 { size(text.len()) } else { *declared };
        for number in [sum.sum(), size(packed.len()), plain] {
            common.extend(number.to_le_bytes());
        }
        common.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        common.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(size(out.len()).to_le_bytes());
        directory.extend(name.bytes());
        out.extend(b"PK\x03\x04");
        out.extend(common);
        out.extend(name.bytes());
        out.extend(packed);
    }
    let count = u16::try_from(files.len()).unwrap().to_le_bytes();
    let (start, length) = (u32::try_from(out.len()).unwrap(), u32::try_from(directory.len()).unwrap());
    out.extend(directory);
    out.extend([b"PK\x05\x06\0\0\0\0".as_slice(), &count, &count].concat());
    out.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
    out.extend([0, 0]);
    out
}

/// Returns a text of about `size` bytes that repeats a piece.
fn repeated(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

const LONG_LINE: &str = "longer than 10485760 bytes";
const LARGE_TREE: &str = "too large or too deeply nested";

#[tokio::test(flavor = "multi_thread")]
async fn body_bombs_stay_within_256_mb() {
    let blank = repeated(" ", 100 * MEBIBYTE);
    let within = repeated(" ", 19 * MEBIBYTE);
    check_bombs(
        PAGE_TIMEOUT,
        vec![
            ("gzip", Page::html(blank.clone()).encoded(Coding::Gzip), Error("cannot be decoded")),
            ("deflate", Page::html(blank.clone()).encoded(Coding::Deflate), Error("cannot be decoded")),
            ("brotli", Page::html(blank.clone()).encoded(Coding::Brotli), Error("cannot be decoded")),
            ("zstd", Page::html(blank.clone()).encoded(Coding::Zstd), Error("cannot be decoded")),
            ("doubled", Page::html(blank).encoded(Coding::Gzip).encoded(Coding::Gzip), Error("")),
            ("withinzstd", Page::html(within).encoded(Coding::Zstd), Error("cannot be decoded")),
            (
                "endless",
                Page::endless("text/html", repeated("<p>tea ", MEBIBYTE)),
                Error("larger than 20971520"),
            ),
            ("announced", Page::html("<p>tea").announced_length(10 << 30), Error("larger than 20971520")),
            ("line", Page::html(repeated("tea ", 50 * MEBIBYTE)), Error("larger than 20971520")),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_lines_stay_within_256_mb() {
    let mut bombs = vec![
        ("linehtml", Page::html(format!("<p>{}", repeated("tea ", 19 * MEBIBYTE))), Warning(LONG_LINE)),
        ("linetext", Page::text(repeated("tea ", 19 * MEBIBYTE)), Warning(LONG_LINE)),
        ("linejson", Page::new("application/json", repeated("[\"tea\",", 19 * MEBIBYTE)), Warning(LONG_LINE)),
        ("stars", Page::html(format!("<p>{}", repeated("*", 19 * MEBIBYTE))), Warning("16777216 bytes")),
        ("controls", Page::text(repeated("\u{1}", 19 * MEBIBYTE)), Error("binary")),
        (
            "sparse",
            Page::text(repeated(&format!("{}\u{1}", "x".repeat(63)), 19 * MEBIBYTE)),
            Warning(LONG_LINE),
        ),
    ];
    if is_proof() {
        bombs.extend([
            (
                "linexml",
                Page::new("application/xml", repeated("<b>tea</b>", 19 * MEBIBYTE)),
                Warning(LONG_LINE),
            ),
            (
                "ampersands",
                Page::html(format!("<p>{}", repeated("&", 19 * MEBIBYTE))),
                Warning("16777216 bytes"),
            ),
            ("code", Page::html(format!("<pre>{}", repeated("x\n", 19 * MEBIBYTE))), Warning(LONG_LINE)),
        ]);
    }
    check_bombs(PAGE_TIMEOUT, bombs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tree_bombs_stay_within_256_mb() {
    let concat = |count: usize, piece: &dyn Fn(usize, &mut String)| {
        let mut text = String::new();
        (0..count).for_each(|number| piece(number, &mut text));
        text
    };
    let attributes = concat(1_000_000, &|n, out| write!(out, "a{n}=b ").unwrap());
    let bodies = concat(100_000, &|n, out| write!(out, "<body a{n}>").unwrap());
    let mut bombs = vec![
        ("divs", Page::html(format!("{}<p>bottom", "<div>".repeat(100_000))), Text("bottom")),
        ("attributes", Page::html(format!("<div {attributes}>x</div><p>behind")), Text("behind")),
        ("siblings", Page::html("<p>x".repeat(1_000_000)), Warning(LARGE_TREE)),
        (
            "colspan",
            Page::html(format!(
                "<table><tr><th>a<th>b</tr>{}</table>",
                "<tr><td colspan=1000000 rowspan=1000000>x</td></tr>".repeat(1_000)
            )),
            Text("| x"),
        ),
        ("comments", Page::html(format!("{}<p>behind", "<!---->".repeat(1_400_000))), Warning(LARGE_TREE)),
        ("bodies", Page::html(format!("{bodies}<p>behind")), Text("behind")),
        ("json", Page::new("application/json", "[".repeat(5_000_000)), Text("[[[[")),
        (
            "statements",
            Page::html(format!("<script type='application/ld+json'>{}</script><p>x", "[".repeat(1_500_000))),
            Text("x"),
        ),
    ];
    if is_proof() {
        let links = concat(1_000_000, &|n, out| write!(out, "<a href={n}>x</a>").unwrap());
        let attribute_names = concat(500, &|n, out| write!(out, "a{n} ").unwrap());
        let base = format!("<base href='http://bombs.test/{}/'>", "x".repeat(450));
        bombs.extend([
            ("links", Page::html(format!("{base}{links}")), Warning("16777216 bytes")),
            ("cells", Page::html(format!("<table><tr>{}", "<td>x".repeat(1_000_000))), Warning(LARGE_TREE)),
            (
                "clones",
                Page::html(format!("<p><b {attribute_names}>{}", "x</p><p>".repeat(100_000))),
                Warning(LARGE_TREE),
            ),
        ]);
    }
    check_bombs(PAGE_TIMEOUT, bombs).await;
}
