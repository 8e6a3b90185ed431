//! The limits that a worker process sets itself before it reads the program.

use std::io;

/// The maximum address space, in bytes. The engine has a lower limit of its own, which it reports as an error of the
/// program; this one holds if the engine fails.
#[cfg(target_os = "linux")]
const ADDRESS_SPACE_BYTES: u64 = 512 * 1024 * 1024;

/// Limits memory, processor time, files, processes and core dumps of this process.
#[cfg(unix)]
pub(super) fn apply() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};

    use crate::program::PROCESSOR_SECONDS;
    let limit = |value| Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(Resource::Core, limit(0))?;
    setrlimit(Resource::Cpu, limit(PROCESSOR_SECONDS.into()))?;
    setrlimit(Resource::Fsize, limit(0))?;
    // The three standard streams are open already; no other file or connection can be opened. The filter of system calls
    // denies the use of inherited ones.
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
