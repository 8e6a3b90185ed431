//! Kills test programs that hang, so that the run continues and reports a failure instead of waiting forever.

use std::fs;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Maximum time without output from the tests. The longest test takes about a minute, or a few on a busy machine.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(600);

/// A thread that kills test programs after a long time without output.
pub(crate) struct Watchdog {
    output: Sender<()>,
    /// Returns the number of programs it killed.
    thread: JoinHandle<u64>,
}

impl Watchdog {
    /// Starts to watch a test program and its child processes.
    pub(crate) fn start(program: u32) -> Self {
        let (output, lines) = channel();
        Self { output, thread: thread::spawn(move || watch(program, &lines, SILENCE_TIMEOUT)) }
    }

    /// Records that the tests printed a line, which restarts the timeout.
    pub(crate) fn record_output(&self) {
        // The thread ends only after the sender is dropped, so this cannot fail.
        let _ = self.output.send(());
    }

    /// Stops the thread and returns the number of programs it killed.
    pub(crate) fn finish(self) -> u64 {
        drop(self.output);
        self.thread.join().unwrap_or_default()
    }
}

fn watch(program: u32, lines: &Receiver<()>, timeout: Duration) -> u64 {
    let mut killed = 0;
    loop {
        match lines.recv_timeout(timeout) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => return killed,
            Err(RecvTimeoutError::Timeout) => killed += kill(program, timeout),
        }
    }
}

/// Kills a program and its child processes, such as the services that its tests started. Returns 1 if it was killed.
fn kill(program: u32, timeout: Duration) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{program}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: String = children.collect();
    let path = fs::read_link(format!("/proc/{program}/exe")).unwrap_or_default();
    println!("FAILED: {} printed nothing for {} s; killing it", path.display(), timeout.as_secs());
    let number = program.to_string();
    // The program first: a shell would continue when its child has been killed.
    let numbers = [number.as_str()].into_iter().chain(children.split_whitespace());
    u64::from(Command::new("kill").arg("-KILL").args(numbers).status().is_ok_and(|status| status.success()))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn hanging_program_is_killed_with_its_children_and_counted() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 1000; echo continued"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh can be started");
        let (output, lines) = channel();
        let program = shell.id();
        let watcher = thread::spawn(move || watch(program, &lines, Duration::from_millis(100)));
        let mut text = String::new();
        // Ends only when no process has the pipe.
        shell.stdout.take().expect("piped").read_to_string(&mut text).expect("the pipe can be read");
        assert!(!shell.wait().expect("the shell ends").success());
        assert_eq!(text, "");
        drop(output);
        assert_eq!(watcher.join().expect("the thread ends"), 1);
    }
}
