//! The memory of Chromium's processes, read from `/proc`. On systems other than Linux, it is 0.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::Pid;

/// The time for which the children of a browser process are cached. Helper processes rarely start and end, and the processes
/// of pages are children of zygotes.
const CHILDREN_TTL: Duration = Duration::from_secs(1);

/// True if the kernel lists the children of each thread.
static LISTS_CHILDREN: LazyLock<bool> = LazyLock::new(|| Path::new("/proc/thread-self/children").exists());

/// The role of a process of Chromium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The root process.
    Browser,
    /// A process from which renderers and helpers are forked.
    Zygote,
    /// A process that runs pages.
    Renderer,
    /// Another process, such as that of the network, graphics or storage service.
    Helper,
}

/// A process and its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessMemory {
    pub(crate) pid: Pid,
    pub(crate) role: Role,
    /// The anonymous and shared memory, without mapped files.
    pub(crate) bytes: u64,
}

/// Samples the memory of a root process and its descendants. Caches what rarely changes, so that samples are cheap.
pub(crate) struct ProcessSampler {
    root: Pid,
    roles: HashMap<Pid, Role>,
    children: HashMap<Pid, (Instant, Vec<Pid>)>,
}

impl ProcessSampler {
    pub(crate) fn new(root: Pid) -> Self {
        Self { root, roles: HashMap::new(), children: HashMap::new() }
    }

    /// Returns all running processes and their memory.
    pub(crate) fn sample(&mut self) -> Vec<ProcessMemory> {
        let mut processes = if *LISTS_CHILDREN { self.list_tree() } else { self.list_group() };
        self.roles.retain(|pid, _| processes.iter().any(|process| process.pid == *pid));
        self.children.retain(|pid, _| processes.iter().any(|process| process.pid == *pid));
        for process in &mut processes {
            process.bytes =
                read(process.pid, "status").and_then(|status| private_bytes(&status)).unwrap_or(0);
        }
        processes
    }

    /// Returns the root and its descendants, without their memory.
    fn list_tree(&mut self) -> Vec<ProcessMemory> {
        let mut processes = Vec::new();
        let mut pending = vec![self.root];
        while let Some(pid) = pending.pop() {
            let Some(role) = self.role(pid) else { continue };
            match role {
                Role::Browser => pending.extend(self.children_of_all_threads(pid)),
                // A zygote has one thread.
                Role::Zygote => children_of(pid, pid, &mut pending),
                Role::Renderer | Role::Helper => {}
            }
            processes.push(ProcessMemory { pid, role, bytes: 0 });
        }
        processes
    }

    /// Returns the processes of the root's group, for kernels that do not list children.
    fn list_group(&mut self) -> Vec<ProcessMemory> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let pids = ids
            .filter_map(Pid::from_raw)
            .filter(|pid| read(*pid, "stat").as_deref().and_then(group_of) == Some(self.root));
        let pids: Vec<Pid> = pids.collect();
        let process = |pid| Some(ProcessMemory { pid, role: self.role(pid)?, bytes: 0 });
        pids.into_iter().filter_map(process).collect()
    }

    /// Returns the role of a process; `None` if it has ended.
    fn role(&mut self, pid: Pid) -> Option<Role> {
        if let Some(role) = self.roles.get(&pid) {
            return Some(*role);
        }
        let command_line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
        let role = role_of(&command_line);
        // A new process has the command line of its parent until it renames itself, so only final roles are cached.
        if matches!(role, Role::Renderer | Role::Helper) {
            self.roles.insert(pid, role);
        }
        Some(role)
    }

    fn children_of_all_threads(&mut self, pid: Pid) -> Vec<Pid> {
        if let Some((read_at, children)) = self.children.get(&pid)
            && read_at.elapsed() < CHILDREN_TTL
        {
            return children.clone();
        }
        let mut found = Vec::new();
        let threads = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
        let ids = threads.into_iter().flatten().flatten();
        for thread in ids.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)) {
            children_of(pid, thread, &mut found);
        }
        self.children.insert(pid, (Instant::now(), found.clone()));
        found
    }
}

/// Returns the processor time that a process has used, in clock ticks; 0 if it has ended.
pub(crate) fn processor_ticks(pid: Pid) -> u64 {
    read(pid, "stat").as_deref().and_then(ticks_of).unwrap_or(0)
}

fn read(pid: Pid, file: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/{}/{file}", pid.as_raw_nonzero())).ok()
}

/// Adds the children that a thread of a process has started.
fn children_of(pid: Pid, thread: Pid, found: &mut Vec<Pid>) {
    let file = format!("/proc/{}/task/{}/children", pid.as_raw_nonzero(), thread.as_raw_nonzero());
    let children = fs::read_to_string(file).unwrap_or_default();
    found.extend(children.split_ascii_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)));
}

/// Returns the role from a command line. Its words end with a zero byte, or with a space once Chromium has renamed the
/// process.
fn role_of(command_line: &[u8]) -> Role {
    let mut words = command_line.split(|byte| matches!(byte, 0 | b' '));
    match words.find_map(|word| word.strip_prefix(b"--type=")) {
        None => Role::Browser,
        Some(b"zygote") => Role::Zygote,
        Some(b"renderer") => Role::Renderer,
        Some(_) => Role::Helper,
    }
}

/// Returns the resident memory that is not from files, in bytes: anonymous pages, and shared pages such as decoded images.
fn private_bytes(status: &str) -> Option<u64> {
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    // A process that is ending has none of these lines.
    Some((kib("RssAnon:")? + kib("RssShmem:")?) * 1024)
}

/// Returns the fields after the process name, which is in parentheses and may contain any characters.
fn fields(stat: &str) -> Option<std::str::SplitAsciiWhitespace<'_>> {
    Some(stat.rsplit_once(')')?.1.split_ascii_whitespace())
}

fn group_of(stat: &str) -> Option<Pid> {
    Pid::from_raw(fields(stat)?.nth(2)?.parse().ok()?)
}

fn ticks_of(stat: &str) -> Option<u64> {
    let mut fields = fields(stat)?.skip(11).map(str::parse::<u64>);
    Some(fields.next()?.ok()? + fields.next()?.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_fields_are_read_after_any_process_name() {
        let stat = "12 (a) b) S 1 34 56 0 -1 4 5 6 7 8 90 10 0 0 20 0 1";
        assert_eq!((group_of(stat), ticks_of(stat)), (Pid::from_raw(34), Some(100)));
        assert_eq!((group_of("12"), ticks_of("12 (a) S 1")), (None, None));
    }

    #[test]
    fn private_bytes_excludes_mapped_files() {
        let status = "Name:\tx\nVmRSS:\t 900 kB\nRssAnon:\t 500 kB\nRssFile:\t 300 kB\nRssShmem:\t 100 kB\n";
        assert_eq!(private_bytes(status), Some(600 * 1024));
        assert_eq!(private_bytes("Name:\tx\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn role_of_reads_both_forms_of_a_command_line() {
        assert_eq!(role_of(b"/usr/lib/chromium/chromium\0--headless\0"), Role::Browser);
        assert_eq!(role_of(b"chromium\0--type=zygote\0--no-sandbox\0"), Role::Zygote);
        assert_eq!(role_of(b"chromium --type=renderer --lang=en"), Role::Renderer);
        assert_eq!(role_of(b"chromium --type=utility --utility-sub-type=network"), Role::Helper);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn list_tree_and_list_group_find_this_process_and_its_child() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let child_pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        let this_pid = rustix::process::getpid();
        let mut tree = ProcessSampler::new(this_pid).list_tree();
        tree.retain(|process| [this_pid, child_pid].contains(&process.pid));
        let group = ProcessSampler::new(rustix::process::getpgrp()).list_group();
        let is_in_group = |pid| group.iter().any(|process| process.pid == pid);
        assert!(tree.len() == 2 || !*LISTS_CHILDREN, "{tree:?}");
        assert!(is_in_group(this_pid) && is_in_group(child_pid));
        let samples = ProcessSampler::new(this_pid).sample();
        assert!(samples.iter().any(|process| process.pid == this_pid && process.bytes > 0), "{samples:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
