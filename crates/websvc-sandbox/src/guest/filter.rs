//! The system calls that programs of interpreters may not use.
//!
//! Interpreters need most system calls, so this is a list of those that are denied: the ones that use memory which the
//! kernel counts for no process, that change namespaces, that reach other processes, and those with a history of faults.

use std::io;

use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{self, Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    apply_filter_all_threads,
};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

/// The calls that fail with EPERM.
const DENIED: &[libc::c_long] = &[
    // Memory that belongs to no process.
    libc::SYS_memfd_create,
    libc::SYS_mq_open,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_shmat,
    libc::SYS_shmget,
    // Namespaces and file systems.
    libc::SYS_chroot,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_mount,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    libc::SYS_umount2,
    libc::SYS_unshare,
    // Other processes.
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    // The machine.
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_userfaultfd,
    libc::SYS_vmsplice,
];

/// The calls that fail with ENOSYS, because programs use another call then. The arguments of `clone3` are in memory, where
/// a filter cannot read them.
const UNKNOWN: &[libc::c_long] =
    &[libc::SYS_clone3, libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_io_uring_setup];

/// The namespaces that `clone` may not create.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// The families of sockets. Some others, such as those of virtual machines, reach beyond the network namespace.
const FAMILIES: &[libc::c_int] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];

/// The options of sockets that programs may not set, because the kernel counts buffers for no process: the sizes of buffers,
/// which the machine may allow up to many megabytes.
const BUFFER_OPTIONS: &[libc::c_int] = &[libc::SO_SNDBUF, libc::SO_RCVBUF];

/// The bit of the calls of the x32 interface, which few kernels have.
#[cfg(target_arch = "x86_64")]
const OTHER_INTERFACE: Option<libc::c_long> = Some(0x4000_0000);
#[cfg(target_arch = "aarch64")]
const OTHER_INTERFACE: Option<libc::c_long> = None;

/// Denies the calls to this process and those that it starts.
pub(super) fn restrict() -> io::Result<()> {
    let denied = DENIED
        .iter()
        .map(|&call| (call, Vec::new()))
        .chain(denied_with_arguments().map_err(io::Error::other)?);
    apply(denied, libc::EPERM)?;
    apply(UNKNOWN.iter().map(|&call| (call, Vec::new())), libc::ENOSYS)
}

fn apply(
    calls: impl Iterator<Item = (libc::c_long, Vec<SeccompRule>)>,
    error: libc::c_int,
) -> io::Result<()> {
    let rules = calls
        .flat_map(|(call, rules)| {
            let other = OTHER_INTERFACE.map(|bit| (call | bit, rules.clone()));
            std::iter::once((call, rules)).chain(other)
        })
        .collect();
    let denied = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, ARCHITECTURE);
    let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(io::Error::other)?;
    apply_filter_all_threads(&program).map_err(io::Error::other)
}

fn denied_with_arguments() -> Result<[(libc::c_long, Vec<SeccompRule>); 3], BackendError> {
    let namespaces = NAMESPACES.iter().map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        SeccompRule::new(vec![condition(0, MaskedEq(flag), flag)?])
    });
    let families = FAMILIES.iter().map(|family| condition(0, Ne, family.unsigned_abs().into()));
    let buffers = BUFFER_OPTIONS.iter().map(|option| {
        let level = condition(1, Eq, libc::SOL_SOCKET.unsigned_abs().into())?;
        SeccompRule::new(vec![level, condition(2, Eq, option.unsigned_abs().into())?])
    });
    Ok([
        (libc::SYS_clone, namespaces.collect::<Result<_, _>>()?),
        (libc::SYS_socket, vec![SeccompRule::new(families.collect::<Result<_, _>>()?)?]),
        (libc::SYS_setsockopt, buffers.collect::<Result<_, _>>()?),
    ])
}

/// Returns the condition that an argument of 32 bits satisfies a comparison.
fn condition(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, Dword, compare, value)
}
