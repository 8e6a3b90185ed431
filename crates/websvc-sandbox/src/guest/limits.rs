//! The limits that a guest sets itself and the interpreter.

use std::{fs, io};

use rustix::process::{Resource, Rlimit, nice, setrlimit};

use crate::program::PROCESSOR_SECONDS;

/// The maximum private memory of a process. JavaScript engines reserve most of this and use little of it; the service
/// measures the memory that the processes together use.
const DATA_BYTES: u64 = 1024 * 1024 * 1024;
/// The maximum number of processes and threads together. Playwright's driver has about twelve.
const PROCESSES: u64 = 64;
/// The maximum number of open files of a process.
const OPEN_FILES: u64 = 256;
/// The priority below that of the service.
const NICENESS: i32 = 5;

/// Limits memory, processor time, files of this maximum size and processes of this process and of those that it starts.
pub(super) fn apply(max_file_bytes: u64) -> io::Result<()> {
    let limit = |value| Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(Resource::Core, limit(0))?;
    setrlimit(Resource::Cpu, limit(PROCESSOR_SECONDS.into()))?;
    setrlimit(Resource::Fsize, limit(max_file_bytes))?;
    setrlimit(Resource::Nofile, limit(OPEN_FILES))?;
    setrlimit(Resource::Data, limit(DATA_BYTES))?;
    setrlimit(Resource::Nproc, limit(PROCESSES))?;
    nice(NICENESS)?;
    // If the machine has no memory left, the kernel ends these processes before others.
    fs::write("/proc/self/oom_score_adj", "1000")
}
