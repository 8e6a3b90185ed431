//! The outside of the workers: how many there are at one time, what they are asked, and what their end means.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use websvc_documents::{DocumentError, DocumentKind, ParsedDocument};

use super::error::ReadError;
use super::ocr;
use super::page::ConvertedDocument;
use super::protocol::{WorkerRequest, WorkerResponse, header};

/// A worker ends by itself so long before it would be killed, with what it has read until then.
const SOFT_SHARE: u32 = 8;

/// The code with which a program of Rust ends when it comes upon what it took to be impossible.
const PANICKED: i32 = 101;

/// How workers are run.
#[derive(Debug, Clone)]
pub struct DocumentWorkers {
    /// The program, which calls [`run_worker`](super::run_worker) when it is started with `arguments`.
    pub program: PathBuf,
    /// Arguments of the worker program.
    pub arguments: Vec<String>,
    /// How many there are at one time.
    pub concurrency: usize,
    /// The longest that one may take.
    pub timeout: Duration,
    /// The largest text of a document, as HTML.
    pub max_output_bytes: usize,
    /// The most that the compressed parts of a document may come to.
    pub max_inflated_bytes: u64,
}

impl DocumentWorkers {
    /// Returns the usual bounds for a program.
    pub fn new(program: PathBuf, arguments: Vec<String>) -> Self {
        Self {
            program,
            arguments,
            concurrency: std::thread::available_parallelism().map_or(2, usize::from),
            timeout: Duration::from_secs(60),
            max_output_bytes: 16 * 1024 * 1024,
            max_inflated_bytes: 256 * 1024 * 1024,
        }
    }
}

/// How the text is got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadMode {
    /// The text that is in the file.
    Fast,
    /// The text that is in the file, and character recognition for pages without.
    #[default]
    Auto,
    /// Character recognition on every page.
    Ocr,
}

/// Options for reading a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// How the text is got.
    pub mode: ReadMode,
    /// At most so many pages are read.
    pub max_pages: u32,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { mode: ReadMode::Auto, max_pages: websvc_types::limits::MAX_PAGES_MAX }
    }
}

/// Reads documents. Cheap to clone.
#[derive(Debug, Clone)]
pub struct DocumentReader {
    workers: Option<Arc<DocumentWorkers>>,
    permits: Arc<Semaphore>,
}

impl DocumentReader {
    /// Makes a reader; without workers every document is an error.
    pub fn new(workers: Option<DocumentWorkers>) -> Self {
        let concurrency = workers.as_ref().map_or(0, |workers| workers.concurrency.max(1));
        Self { workers: workers.map(Arc::new), permits: Arc::new(Semaphore::new(concurrency)) }
    }

    /// Returns whether documents are read at all.
    pub fn has_workers(&self) -> bool {
        self.workers.is_some()
    }

    /// Reads a document until `deadline`, and returns it as an HTML page.
    ///
    /// # Errors
    /// [`ReadError`]
    pub async fn read_page(
        &self,
        kind: DocumentKind,
        document: Bytes,
        options: &ReadOptions,
        deadline: Instant,
    ) -> Result<String, ReadError> {
        Ok(ConvertedDocument::new(kind, self.read(kind, document, options, deadline).await?).html)
    }

    /// Reads a document until `deadline`.
    ///
    /// # Errors
    /// [`ReadError`]
    pub async fn read(
        &self,
        kind: DocumentKind,
        document: Bytes,
        options: &ReadOptions,
        deadline: Instant,
    ) -> Result<ParsedDocument, ReadError> {
        let workers = self.workers.as_deref().ok_or(ReadError::NoWorkers)?;
        let deadline = deadline.min(Instant::now() + workers.timeout);
        let reading = async {
            let _permit = self.permits.acquire().await.map_err(|_closed| ReadError::NoWorkers)?;
            let mut parsed = ask(workers, kind, &document, options, deadline).await?;
            if kind == DocumentKind::Pdf {
                ocr::add_recognized_text(workers, &mut parsed, &document, options.mode).await?;
            }
            Ok(parsed)
        };
        // Leaving drops the worker, which kills it.
        tokio::time::timeout_at(deadline.into(), reading).await.unwrap_or(Err(ReadError::Timeout))
    }
}

async fn ask(
    workers: &DocumentWorkers,
    kind: DocumentKind,
    document: &Bytes,
    options: &ReadOptions,
    deadline: Instant,
) -> Result<ParsedDocument, ReadError> {
    let left = deadline.saturating_duration_since(Instant::now());
    let soft = left.saturating_sub((left / SOFT_SHARE).max(Duration::from_millis(50)));
    let question = WorkerRequest {
        kind,
        max_pages: options.max_pages,
        max_output_bytes: workers.max_output_bytes,
        max_inflated_bytes: workers.max_inflated_bytes,
        soft_timeout_ms: u64::try_from(soft.as_millis()).unwrap_or(u64::MAX),
    };
    let header = header(&question).map_err(ReadError::Start)?;
    let mut worker = start(workers).map_err(ReadError::Start)?;
    let (input, output) = (worker.stdin.take(), worker.stdout.take());
    let sending = async {
        if let Some(mut input) = input {
            // A worker that ends early does not listen; how it ended says why.
            let _ = async {
                input.write_all(&header).await?;
                input.write_all(document).await
            }
            .await;
        }
    };
    // JSON escapes at most doubles what is no control character; the answer is text.
    let most = workers.max_output_bytes as u64 * 2 + 1024 * 1024;
    let receiving = async {
        let mut answer = Vec::new();
        if let Some(output) = output {
            let _ = output.take(most).read_to_end(&mut answer).await;
        }
        answer
    };
    let ((), answer) = tokio::join!(sending, receiving);
    let status = worker.wait().await.map_err(ReadError::Start)?;
    match serde_json::from_slice::<WorkerResponse>(&answer) {
        Ok(answer) if status.success() => answer.map_err(ReadError::Document),
        Ok(_) | Err(_) if status.code() == Some(PANICKED) => {
            let reason = "its reader does not understand it".to_owned();
            Err(ReadError::Document(DocumentError::Damaged { kind, reason }))
        }
        Ok(_) | Err(_) => Err(ReadError::WorkerDied { reason: reason(status) }),
    }
}

fn start(workers: &DocumentWorkers) -> std::io::Result<Child> {
    Command::new(&workers.program)
        .args(&workers.arguments)
        // Keys and passwords of the service are nothing that a reader of hostile files should hold.
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}

/// Returns how a worker ended, as far as it can be told.
fn reason(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        match status.signal() {
            // Rust gives up with SIGABRT when it gets no memory.
            Some(6 | 9) => return "its memory is used up".to_owned(),
            Some(24) => return "its processor time is used up".to_owned(),
            Some(11) => return "it nests too deeply".to_owned(),
            Some(signal) => return format!("the worker ended with signal {signal}"),
            None => {}
        }
    }
    match status.code() {
        Some(code) => format!("the worker ended with code {code}"),
        None => "the worker ended".to_owned(),
    }
}
