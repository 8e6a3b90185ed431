//! The inside of a worker process: it limits itself, reads one document, answers and ends.

use std::io::{self, BufWriter};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use websvc_documents::{Limits, parse};

use super::protocol::{read_question, write_answer};

/// Resource limits of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Bytes of address space.
    pub memory_bytes: u64,
    /// Seconds of processor time.
    pub cpu_seconds: u64,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self { memory_bytes: 256 * 1024 * 1024, cpu_seconds: 60 }
    }
}

/// Reads one document from the standard input within the limits and answers on the standard output. This is the
/// whole work of the process that is started for it.
pub fn run_worker(limits: &WorkerLimits) -> ExitCode {
    match limit(limits).and_then(|()| work()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_nobody_to_tell) => ExitCode::FAILURE,
    }
}

/// Becomes another program within the limits: the one that draws pages, or the one that recognises characters.
/// Returns only when that fails.
pub fn run_tool(limits: &WorkerLimits, program: &str, arguments: &[String]) -> ExitCode {
    #[cfg(unix)]
    if limit_all(limits).is_ok() {
        use std::os::unix::process::CommandExt;
        let _failed = std::process::Command::new(program).args(arguments).exec();
    }
    #[cfg(not(unix))]
    let _ = (limits, program, arguments);
    ExitCode::FAILURE
}

fn work() -> io::Result<()> {
    let started = Instant::now();
    let (question, document) = read_question(&mut io::stdin().lock())?;
    let soft_timeout = Duration::from_millis(question.soft_timeout_ms);
    let stop = || started.elapsed() > soft_timeout;
    let limits = Limits {
        max_pages: question.max_pages,
        max_output_bytes: question.max_output_bytes,
        max_inflated_bytes: question.max_inflated_bytes,
        stop: &stop,
    };
    let answer = parse(question.kind, document, &limits);
    write_answer(&mut BufWriter::new(io::stdout().lock()), &answer)
}

/// Takes from this process what it does not need: memory, time, files and core dumps.
#[cfg(unix)]
fn limit(limits: &WorkerLimits) -> io::Result<()> {
    use rustix::process::{Resource, setrlimit};
    limit_all(limits)?;
    setrlimit(Resource::Fsize, both(0))?;
    // Input, output and errors are open; nothing else can be opened, neither a file nor a connection.
    setrlimit(Resource::Nofile, both(3))?;
    Ok(())
}

/// Takes memory, time and core dumps.
#[cfg(unix)]
fn limit_all(limits: &WorkerLimits) -> io::Result<()> {
    use rustix::process::{Resource, setrlimit};
    setrlimit(Resource::Core, both(0))?;
    setrlimit(Resource::Cpu, both(limits.cpu_seconds))?;
    // Other systems have no such limit, or do not keep it.
    #[cfg(target_os = "linux")]
    setrlimit(Resource::As, both(limits.memory_bytes))?;
    Ok(())
}

#[cfg(unix)]
fn both(value: u64) -> rustix::process::Rlimit {
    rustix::process::Rlimit { current: Some(value), maximum: Some(value) }
}

#[cfg(not(unix))]
fn limit(_limits: &WorkerLimits) -> io::Result<()> {
    Ok(())
}
