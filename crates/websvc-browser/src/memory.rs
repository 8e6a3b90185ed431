//! The memory of Chromium's processes, as Linux tells it: 0 elsewhere.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::Pid;

/// How long the children of a browser process are kept: utilities come and go rarely, pages never start there.
const CHILDREN_KEPT: Duration = Duration::from_secs(1);

/// The kernel lists the children of each thread.
static LISTS_CHILDREN: LazyLock<bool> = LazyLock::new(|| Path::new("/proc/thread-self/children").exists());

/// The kind of a process of Chromium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The process that starts all others.
    Browser,
    /// A process that renderers and helpers are forked from.
    Zygote,
    /// A process that runs pages.
    Renderer,
    /// The network, the graphics, the storage.
    Helper,
}

/// A process and its memory at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) process: Pid,
    pub(crate) role: Role,
    /// Its own memory and what it shares with others but no file holds.
    pub(crate) bytes: u64,
}

/// A reader of the processes below one. What does not change is remembered, so that it can be read often.
pub(crate) struct Census {
    leader: Pid,
    roles: HashMap<Pid, Role>,
    children: HashMap<Pid, (Instant, Vec<Pid>)>,
}

impl Census {
    pub(crate) fn new(leader: Pid) -> Self {
        Self { leader, roles: HashMap::new(), children: HashMap::new() }
    }

    /// Returns all processes that run now.
    pub(crate) fn take(&mut self) -> Vec<Member> {
        let mut members = if *LISTS_CHILDREN { self.descend() } else { self.walk() };
        self.roles.retain(|process, _| members.iter().any(|member| member.process == *process));
        self.children.retain(|process, _| members.iter().any(|member| member.process == *process));
        for member in &mut members {
            member.bytes = read(member.process, "status").and_then(|status| own_bytes(&status)).unwrap_or(0);
        }
        members
    }

    /// Returns the leader and what it has started, without their memory.
    fn descend(&mut self) -> Vec<Member> {
        let mut members = Vec::new();
        let mut waiting = vec![self.leader];
        while let Some(process) = waiting.pop() {
            let Some(role) = self.role(process) else { continue };
            match role {
                Role::Browser => waiting.extend(self.children_of_all_threads(process)),
                // It has one thread.
                Role::Zygote => children_of(process, process, &mut waiting),
                Role::Renderer | Role::Helper => {}
            }
            members.push(Member { process, role, bytes: 0 });
        }
        members
    }

    /// Returns the processes of the leader's group, where the kernel does not list children.
    fn walk(&mut self) -> Vec<Member> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let of_group = ids
            .filter_map(Pid::from_raw)
            .filter(|process| read(*process, "stat").as_deref().and_then(group_of) == Some(self.leader));
        let of_group: Vec<Pid> = of_group.collect();
        let member = |process| Some(Member { process, role: self.role(process)?, bytes: 0 });
        of_group.into_iter().filter_map(member).collect()
    }

    /// Returns the role of a process; `None` when it has ended.
    fn role(&mut self, process: Pid) -> Option<Role> {
        if let Some(role) = self.roles.get(&process) {
            return Some(*role);
        }
        let line = fs::read(format!("/proc/{}/cmdline", process.as_raw_nonzero())).ok()?;
        let role = role_of(&line);
        // A process is a copy of the one that has started it until it has its own name.
        if matches!(role, Role::Renderer | Role::Helper) {
            self.roles.insert(process, role);
        }
        Some(role)
    }

    fn children_of_all_threads(&mut self, process: Pid) -> Vec<Pid> {
        if let Some((read_at, children)) = self.children.get(&process)
            && read_at.elapsed() < CHILDREN_KEPT
        {
            return children.clone();
        }
        let mut found = Vec::new();
        let threads = fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero()));
        let ids = threads.into_iter().flatten().flatten();
        for thread in ids.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)) {
            children_of(process, thread, &mut found);
        }
        self.children.insert(process, (Instant::now(), found.clone()));
        found
    }
}

/// Returns the processor time that a process has used, in ticks of the system; 0 when it has ended.
pub(crate) fn processor_ticks(process: Pid) -> u64 {
    read(process, "stat").as_deref().and_then(ticks_of).unwrap_or(0)
}

fn read(process: Pid, file: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/{}/{file}", process.as_raw_nonzero())).ok()
}

fn children_of(process: Pid, thread: Pid, found: &mut Vec<Pid>) {
    let file = format!("/proc/{}/task/{}/children", process.as_raw_nonzero(), thread.as_raw_nonzero());
    let children = fs::read_to_string(file).unwrap_or_default();
    found.extend(children.split_ascii_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)));
}

/// Reads the role from a command line, whose words end with a zero byte, or with a space once Chromium has renamed
/// the process.
fn role_of(command_line: &[u8]) -> Role {
    let mut words = command_line.split(|byte| matches!(byte, 0 | b' '));
    match words.find_map(|word| word.strip_prefix(b"--type=")) {
        None => Role::Browser,
        Some(b"zygote") => Role::Zygote,
        Some(b"renderer") => Role::Renderer,
        Some(_) => Role::Helper,
    }
}

/// Sums up what of a process is in memory and in no file: its own pages, and shared ones, such as decoded images.
fn own_bytes(status: &str) -> Option<u64> {
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    // One that is ending has none any more.
    Some((kib("RssAnon:")? + kib("RssShmem:")?) * 1024)
}

/// Returns the fields behind the name in parentheses, which may hold anything.
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
    fn group_and_time_are_read_behind_any_name() {
        let stat = "12 (a) b) S 1 34 56 0 -1 4 5 6 7 8 90 10 0 0 20 0 1";
        assert_eq!((group_of(stat), ticks_of(stat)), (Pid::from_raw(34), Some(100)));
        assert_eq!((group_of("12"), ticks_of("12 (a) S 1")), (None, None));
    }

    #[test]
    fn files_in_memory_do_not_count() {
        let status = "Name:\tx\nVmRSS:\t 900 kB\nRssAnon:\t 500 kB\nRssFile:\t 300 kB\nRssShmem:\t 100 kB\n";
        assert_eq!(own_bytes(status), Some(600 * 1024));
        assert_eq!(own_bytes("Name:\tx\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn roles_are_read_in_both_forms_of_a_command_line() {
        assert_eq!(role_of(b"/usr/lib/chromium/chromium\0--headless\0"), Role::Browser);
        assert_eq!(role_of(b"chromium\0--type=zygote\0--no-sandbox\0"), Role::Zygote);
        assert_eq!(role_of(b"chromium --type=renderer --lang=en"), Role::Renderer);
        assert_eq!(role_of(b"chromium --type=utility --utility-sub-type=network"), Role::Helper);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn own_process_and_its_child_are_found_by_both_ways() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let child_id = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        let own = rustix::process::getpid();
        let mut descended = Census::new(own).descend();
        descended.retain(|member| [own, child_id].contains(&member.process));
        let walked = Census::new(rustix::process::getpgrp()).walk();
        let is_walked = |process| walked.iter().any(|member| member.process == process);
        assert!(descended.len() == 2 || !*LISTS_CHILDREN, "{descended:?}");
        assert!(is_walked(own) && is_walked(child_id));
        let sizes = Census::new(own).take();
        assert!(sizes.iter().any(|member| member.process == own && member.bytes > 0), "{sizes:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
