//! The reader of documents: starts a worker process per document, within a concurrency limit, and interprets its
//! result.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use websvc_documents::{DocumentError, DocumentKind, PageOutput, ParsedDocument};

use super::error::ReadError;
use super::ocr;
use super::page::ConvertedDocument;
use super::protocol::{WorkerRequest, WorkerResponse, encode_header};

/// A worker stops reading this fraction of its time before its deadline, and returns the part that it has read.
const SOFT_DEADLINE_DIVISOR: u32 = 8;

/// The exit code of a Rust program that panicked.
const PANIC_EXIT_CODE: i32 = 101;

/// The program and the limits of document workers.
#[derive(Debug, Clone)]
pub struct DocumentWorkers {
    /// The program, which calls [`run_worker`](super::run_worker) when it is started with `arguments`.
    pub program: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The maximum number of concurrent workers.
    pub concurrency: usize,
    /// The maximum time for one document.
    pub timeout: Duration,
    /// The maximum size of the text of a document, as HTML, in bytes.
    pub max_output_bytes: usize,
    /// The maximum total size of the decompressed parts of a document, in bytes.
    pub max_inflated_bytes: u64,
}

impl DocumentWorkers {
    /// Creates a configuration with the default limits.
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

/// The use of character recognition for a PDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadMode {
    /// Take the text of the file only.
    Fast,
    /// Take the text of the file, and recognize the pages without text.
    #[default]
    Auto,
    /// Recognize every page.
    Ocr,
}

/// Options for reading a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// The use of character recognition.
    pub mode: ReadMode,
    /// The maximum number of pages that are read.
    pub max_pages: u32,
    /// The separation of the pages in the output.
    pub output: PageOutput,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            mode: ReadMode::Auto,
            max_pages: websvc_types::limits::MAX_PAGES_MAX,
            output: PageOutput::default(),
        }
    }
}

/// Reads documents. Cheap to clone.
#[derive(Debug, Clone)]
pub struct DocumentReader {
    workers: Option<Arc<DocumentWorkers>>,
    permits: Arc<Semaphore>,
}

impl DocumentReader {
    /// Creates a reader; without workers, every document is an error.
    pub fn new(workers: Option<DocumentWorkers>) -> Self {
        let concurrency = workers.as_ref().map_or(0, |workers| workers.concurrency.max(1));
        Self { workers: workers.map(Arc::new), permits: Arc::new(Semaphore::new(concurrency)) }
    }

    /// Returns whether this reader can read documents.
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
            let mut parsed = read_with_worker(workers, kind, &document, options, deadline).await?;
            if kind == DocumentKind::Pdf {
                ocr::add_recognized_text(workers, &mut parsed, &document, options).await?;
            }
            Ok(parsed)
        };
        // Dropping the future kills the worker.
        tokio::time::timeout_at(deadline.into(), reading).await.unwrap_or(Err(ReadError::Timeout))
    }
}

/// Starts a worker, sends it a document, and returns its response.
async fn read_with_worker(
    workers: &DocumentWorkers,
    kind: DocumentKind,
    document: &Bytes,
    options: &ReadOptions,
    deadline: Instant,
) -> Result<ParsedDocument, ReadError> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    let reserve = (remaining / SOFT_DEADLINE_DIVISOR).max(Duration::from_millis(50));
    let soft_timeout = remaining.saturating_sub(reserve);
    let request = WorkerRequest {
        kind,
        max_pages: options.max_pages,
        page_starts: options.output.starts,
        separate_pages: options.output.separate,
        layout: options.output.layout,
        max_output_bytes: workers.max_output_bytes,
        max_inflated_bytes: workers.max_inflated_bytes,
        soft_timeout_ms: u64::try_from(soft_timeout.as_millis()).unwrap_or(u64::MAX),
    };
    let header = encode_header(&request).map_err(ReadError::Start)?;
    let mut worker = start(workers).map_err(ReadError::Start)?;
    let (input, output) = (worker.stdin.take(), worker.stdout.take());
    let sending = async {
        if let Some(mut input) = input {
            // Writing fails if the worker ends early; its exit status has the reason.
            let _ = async {
                input.write_all(&header).await?;
                input.write_all(document).await
            }
            .await;
        }
    };
    // Escaping in JSON at most doubles the length of a text without control characters.
    // The pages on their own, and with their layout, are as long as the document.
    let copies = 1 + u64::from(options.output.separate) + u64::from(options.output.layout);
    let max_response_bytes = workers.max_output_bytes as u64 * 2 * copies + 1024 * 1024;
    let receiving = async {
        let mut response = Vec::new();
        if let Some(output) = output {
            let _ = output.take(max_response_bytes).read_to_end(&mut response).await;
        }
        response
    };
    let ((), response) = tokio::join!(sending, receiving);
    let status = worker.wait().await.map_err(ReadError::Start)?;
    match serde_json::from_slice::<WorkerResponse>(&response) {
        Ok(response) if status.success() => response.map_err(ReadError::Document),
        Ok(_) | Err(_) if status.code() == Some(PANIC_EXIT_CODE) => {
            let reason = "the reader failed on its content".to_owned();
            Err(ReadError::Document(DocumentError::Damaged { kind, reason }))
        }
        Ok(_) | Err(_) => Err(ReadError::WorkerDied { reason: reason(status) }),
    }
}

fn start(workers: &DocumentWorkers) -> std::io::Result<Child> {
    Command::new(&workers.program)
        .args(&workers.arguments)
        // A reader of hostile files must not have the keys and passwords of the service.
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}

/// Returns the reason why a worker ended, as far as its exit status shows it.
fn reason(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        match status.signal() {
            // Rust aborts with SIGABRT when an allocation fails.
            Some(6 | 9) => return "out of memory".to_owned(),
            Some(24) => return "out of processor time".to_owned(),
            Some(11) => return "stack overflow, the document is nested too deeply".to_owned(),
            Some(signal) => return format!("the worker ended with signal {signal}"),
            None => {}
        }
    }
    match status.code() {
        Some(code) => format!("the worker ended with code {code}"),
        None => "the worker ended".to_owned(),
    }
}
