//! The system calls of a worker process: those of memory, time and its three standard streams, and no others.
//!
//! The engine is written in C. If a program finds a fault in it, this filter still denies files, connections, other
//! processes and programs.

use std::io;

use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{self, Eq, MaskedEq};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    apply_filter_all_threads,
};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

/// The calls that are allowed with any arguments.
const ALLOWED: &[libc::c_long] = &[
    // Memory.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    // Time, the two threads, and their end.
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    // Signals: an abort of this process.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
];

/// Denies all other system calls to all threads of this process. They fail with EPERM.
pub(super) fn restrict() -> io::Result<()> {
    let program = filter().map_err(io::Error::other)?;
    apply_filter_all_threads(&program).map_err(io::Error::other)
}

fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let rules = ALLOWED.iter().map(|&call| (call, Vec::new())).chain(allowed_with_arguments()?).collect();
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, denied, SeccompAction::Allow, ARCHITECTURE)?.try_into()
}

/// Returns the calls that are allowed with some arguments, of which one rule must match.
///
/// A process may inherit descriptors of which its parent does not know. They stay open, but no call can use them.
fn allowed_with_arguments() -> Result<[(libc::c_long, Vec<SeccompRule>); 5], seccompiler::BackendError> {
    let anonymous = u64::from(libc::MAP_ANONYMOUS.unsigned_abs());
    let outputs = || Ok(vec![rule(0, Eq, 1)?, rule(0, Eq, 2)?]);
    Ok([
        // The pipes.
        (libc::SYS_read, vec![rule(0, Eq, 0)?]),
        (libc::SYS_write, outputs()?),
        (libc::SYS_writev, outputs()?),
        // Memory that maps no file.
        (libc::SYS_mmap, vec![rule(3, MaskedEq(anonymous), anonymous)?]),
        // An abort of this process, and a signal to no other.
        (libc::SYS_tgkill, vec![rule(0, Eq, std::process::id().into())?]),
    ])
}

/// Returns the rule that an argument satisfies a comparison. Descriptors, flags and process IDs have 32 bits.
fn rule(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, Dword, compare, value)?])
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{ErrorKind, Read, Write};

    use super::*;

    #[test]
    fn inherited_descriptors_and_files_are_out_of_reach() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"inherited").unwrap();
        let program = filter().unwrap();
        let (read, written, opened, printed) = std::thread::scope(|scope| {
            let (reader, writer) = (&mut reader, &mut writer);
            let restricted = scope.spawn(move || {
                // Only this thread is restricted.
                seccompiler::apply_filter(&program).unwrap();
                let memory = vec![1_u8; 1024 * 1024];
                let read = reader.read(&mut [0; 9]);
                let written = writer.write(&memory[..1]);
                (read, written, File::open("/dev/null"), io::stderr().write(b"\n"))
            });
            restricted.join().unwrap()
        });
        for denied in [read.err(), written.err(), opened.err()] {
            assert_eq!(denied.map(|error| error.kind()), Some(ErrorKind::PermissionDenied));
        }
        assert_eq!(printed.ok(), Some(1));
        let mut content = [0; 9];
        reader.read_exact(&mut content).unwrap();
        assert_eq!(&content, b"inherited", "other threads are not restricted");
    }
}
