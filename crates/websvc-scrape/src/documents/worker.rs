//! The document worker process: limits itself, reads one document, writes the response and exits.

use std::io::{self, BufWriter};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use websvc_documents::{Limits, PageOutput, parse_pages};

use super::protocol::{read_request, write_response};

/// The resource limits of a worker process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerLimits {
    /// The maximum address space, in bytes.
    pub memory_bytes: u64,
    /// The maximum processor time, in seconds.
    pub cpu_seconds: u64,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self { memory_bytes: 256 * 1024 * 1024, cpu_seconds: 60 }
    }
}

/// Reads one document from standard input within the limits and writes the response to standard output. This is the
/// main function of a worker process.
pub fn run_worker(limits: &WorkerLimits) -> ExitCode {
    match apply_worker_limits(limits).and_then(|()| read_document()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Replaces this process by a program of character recognition, within the limits. Returns only if that fails.
pub fn run_tool(limits: &WorkerLimits, program: &str, arguments: &[String]) -> ExitCode {
    #[cfg(unix)]
    if apply_limits(limits).is_ok() {
        use std::os::unix::process::CommandExt;
        let _failed = std::process::Command::new(program).args(arguments).exec();
    }
    #[cfg(not(unix))]
    let _ = (limits, program, arguments);
    ExitCode::FAILURE
}

fn read_document() -> io::Result<()> {
    let started = Instant::now();
    let (request, document) = read_request(&mut io::stdin().lock())?;
    let soft_timeout = Duration::from_millis(request.soft_timeout_ms);
    let stop = || started.elapsed() > soft_timeout;
    let limits = Limits {
        max_pages: request.max_pages,
        max_output_bytes: request.max_output_bytes,
        max_inflated_bytes: request.max_inflated_bytes,
        stop: &stop,
    };
    let output =
        PageOutput { starts: request.page_starts, separate: request.separate_pages, layout: request.layout };
    let response = parse_pages(request.kind, document, &limits, output);
    write_response(&mut BufWriter::new(io::stdout().lock()), &response)
}

/// Limits memory, processor time, files and core dumps of this process.
#[cfg(unix)]
fn apply_worker_limits(limits: &WorkerLimits) -> io::Result<()> {
    use rustix::process::{Resource, setrlimit};
    apply_limits(limits)?;
    setrlimit(Resource::Fsize, rlimit(0))?;
    // The three standard streams are open already; no other file or connection can be opened.
    setrlimit(Resource::Nofile, rlimit(3))?;
    Ok(())
}

/// Limits memory, processor time and core dumps of this process.
#[cfg(unix)]
fn apply_limits(limits: &WorkerLimits) -> io::Result<()> {
    use rustix::process::{Resource, setrlimit};
    setrlimit(Resource::Core, rlimit(0))?;
    setrlimit(Resource::Cpu, rlimit(limits.cpu_seconds))?;
    // Other systems do not have this limit, or do not enforce it.
    #[cfg(target_os = "linux")]
    setrlimit(Resource::As, rlimit(limits.memory_bytes))?;
    Ok(())
}

#[cfg(unix)]
fn rlimit(value: u64) -> rustix::process::Rlimit {
    rustix::process::Rlimit { current: Some(value), maximum: Some(value) }
}

#[cfg(not(unix))]
fn apply_worker_limits(_limits: &WorkerLimits) -> io::Result<()> {
    Ok(())
}
