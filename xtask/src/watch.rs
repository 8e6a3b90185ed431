//! Ends a test program that hangs, so that the run goes on, fails, and says where, instead of waiting forever.

use std::fs;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long the tests may print nothing. The longest test takes about a minute, on a busy machine a few.
const SILENCE: Duration = Duration::from_secs(600);

/// Listens to the tests while they run.
pub(crate) struct Watch {
    heard: Sender<()>,
    /// Returns how many programs it ended.
    watching: JoinHandle<u64>,
}

impl Watch {
    /// Watches over the programs that a process starts, one after another.
    pub(crate) fn over(parent: u32) -> Self {
        let (heard, lines) = channel();
        Self { heard, watching: thread::spawn(move || watch(parent, &lines, SILENCE)) }
    }

    /// Notes that the tests printed a line.
    pub(crate) fn heard(&self) {
        // It watches for as long as this is there.
        let _ = self.heard.send(());
    }

    /// Stops watching, and returns how many programs were ended.
    pub(crate) fn finish(self) -> u64 {
        drop(self.heard);
        self.watching.join().unwrap_or_default()
    }
}

fn watch(parent: u32, lines: &Receiver<()>, silence: Duration) -> u64 {
    let mut ended = 0;
    loop {
        match lines.recv_timeout(silence) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => return ended,
            Err(RecvTimeoutError::Timeout) => ended += end_children(parent, silence),
        }
    }
}

/// Ends what a process has started, and returns how many programs that were. Where there is no `/proc` it finds none.
fn end_children(parent: u32, silence: Duration) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let mut ended = 0;
    for child in children.collect::<String>().split_whitespace() {
        let program = fs::read_link(format!("/proc/{child}/exe")).unwrap_or_default();
        println!("FAILED: {} printed nothing for {} s and is ended", program.display(), silence.as_secs());
        ended += u64::from(
            Command::new("kill").args(["-KILL", child]).status().is_ok_and(|status| status.success()),
        );
    }
    ended
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended_and_counted() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 1000; echo went on"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let (heard, lines) = channel();
        let parent = shell.id();
        let watching = thread::spawn(move || watch(parent, &lines, Duration::from_millis(100)));
        // What started it goes on.
        assert!(shell.wait().expect("it ends").success());
        drop(heard);
        assert_eq!(watching.join().expect("it ends"), 1);
    }
}
