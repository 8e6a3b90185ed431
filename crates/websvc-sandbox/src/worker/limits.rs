//! The limits that a worker process sets itself before it reads the program.

use std::io;

/// The maximum address space, in bytes. The engine has a lower limit of its own, which it reports as an error of the
/// program; this one holds if the engine fails.
#[cfg(target_os = "linux")]
const ADDRESS_SPACE_BYTES: u64 = 512 * 1024 * 1024;

/// The maximum processor time, in seconds: the longest timeout of a program, and a little more.
#[cfg(unix)]
const PROCESSOR_SECONDS: u64 = 310;

/// Limits memory, processor time, files, processes and core dumps of this process.
#[cfg(unix)]
pub(super) fn apply() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = |value| Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(Resource::Core, limit(0))?;
    setrlimit(Resource::Cpu, limit(PROCESSOR_SECONDS))?;
    setrlimit(Resource::Fsize, limit(0))?;
    // The three standard streams are open already; no other file or connection can be opened.
    setrlimit(Resource::Nofile, limit(3))?;
    // Other systems do not have this limit, or do not enforce it.
    #[cfg(target_os = "linux")]
    setrlimit(Resource::As, limit(ADDRESS_SPACE_BYTES))?;
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn apply() -> io::Result<()> {
    Ok(())
}
