//! The system calls of a worker process: those of memory, time and its open pipes, and no others.
//!
//! The engine is written in C. If a program finds a fault in it, this filter still denies files, connections, other
//! processes and programs.

use std::io;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

const ALLOWED: &[libc::c_long] = &[
    // The pipes.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_writev,
    // Memory.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mmap,
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
    libc::SYS_tgkill,
];

/// Denies all other system calls to all threads of this process. They fail with EPERM.
pub(super) fn restrict() -> io::Result<()> {
    let rules = ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter =
        SeccompFilter::new(rules, denied, SeccompAction::Allow, ARCHITECTURE).map_err(io::Error::other)?;
    let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    apply_filter_all_threads(&program).map_err(io::Error::other)
}
