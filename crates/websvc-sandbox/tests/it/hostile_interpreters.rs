//! Programs of real interpreters that attack the sandbox of bubblewrap.

use std::net::TcpListener;
use std::os::fd::AsRawFd;

use websvc_sandbox::{Interpreter, Language, MAX_OUTPUT_BYTES, SandboxConfig, TIMEOUT_EXIT_CODE};
use websvc_testkit::{skip, until};

use crate::browser::{Browser, Page, chromium};
use crate::channels::program;
use crate::interpreters::{prepare, run_shell, sandbox};

/// A shell, and the sandbox that it runs in.
async fn shell() -> Option<(Interpreter, SandboxConfig)> {
    let sandbox = sandbox()?;
    Some((prepare(Language::Bash).await?, sandbox))
}

/// Returns whether a process of this machine has a word among its arguments.
fn is_running(word: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes())
    })
}

#[tokio::test]
async fn machine_is_out_of_reach() {
    let Some((shell, _)) = shell().await else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let secret = tempfile::NamedTempFile::new().unwrap();
    let connect = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2> /dev/null; echo $?");
    let external = "(exec 3<>/dev/tcp/192.0.2.1/80) 2> /dev/null; echo $?";
    let read = format!("cat {} 2> /dev/null; echo $?", secret.path().display());
    for (code, stdout) in [
        (connect.as_str(), "1\n"),
        (external, "1\n"),
        (read.as_str(), "1\n"),
        ("cat /etc/passwd 2> /dev/null; echo $?", "1\n"),
        ("ls /etc", "alternatives\nld.so.cache\n"),
        ("ls -A /home /var 2> /dev/null", "/home:\n"),
        (
            "env -u PWD -u SHLVL -u _ | sort",
            "HOME=/home\nLANG=C.UTF-8\nPATH=/websvc/bin:/usr/local/bin:/usr/bin:/bin\n",
        ),
        ("cat /proc/1/environ | tr '\\0' '\\n' | grep -c WEBSVC", "0\n"),
        (
            "touch /usr/x 2> /dev/null || touch /x 2> /dev/null || touch /dev/x 2> /dev/null || echo none",
            "none\n",
        ),
        ("[ $(id -u) = 0 ] && [ -w /usr ] || echo no", "no\n"),
        ("grep CapEff /proc/self/status", "CapEff:\t0000000000000000\n"),
        ("grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1\n"),
        ("unshare -r true 2> /dev/null || echo denied", "denied\n"),
        ("ls /proc | grep -c '^[0-9]' | tr '56789' '44444'", "4\n"),
        ("cat /proc/net/dev | grep -c : ; hostname", "1\nsandbox\n"),
    ] {
        let outcome = run_shell(&shell, code, 20).await;
        assert_eq!(outcome.stdout, stdout, "{code}: {outcome:?}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "no connection has arrived");
}

#[tokio::test]
async fn files_that_the_service_has_inherited_are_out_of_reach() {
    let Some((shell, _)) = shell().await else { return };
    // As a program that starts the service leaves it open.
    let directory = std::fs::File::open("/usr").unwrap();
    rustix::io::fcntl_setfd(&directory, rustix::io::FdFlags::empty()).unwrap();
    let code = format!("cat /proc/self/fd/{}/../etc/passwd 2> /dev/null; echo $?", directory.as_raw_fd());
    let outcome = run_shell(&shell, &code, 20).await;
    assert_eq!(outcome.stdout, "1\n", "{outcome:?}");
}

#[tokio::test]
async fn endless_programs_are_killed_with_all_their_processes() {
    let Some((shell, _)) = shell().await else {
        return;
    };
    for (seconds, code) in [
        ("86401.5", "echo started; sleep 86401.5"),
        ("86402.5", "echo started; (setsid sleep 86402.5 &) ; while :; do :; done"),
        ("86403.5", "echo started; trap '' TERM INT HUP; nohup sleep 86403.5 & wait"),
    ] {
        let outcome = run_shell(&shell, code, 2).await;
        assert!(outcome.killed && outcome.exit_code == TIMEOUT_EXIT_CODE, "{code}: {outcome:?}");
        assert_eq!(outcome.stdout, "started\n");
        until("no process of the program is left", || !is_running(seconds)).await;
    }
    // Processes in the background end with the program, too.
    let outcome = run_shell(&shell, "sleep 86404.5 & echo done", 20).await;
    assert_eq!((outcome.stdout.as_str(), outcome.exit_code), ("done\n", 0), "{outcome:?}");
    until("no process of the program is left", || !is_running("86404.5")).await;
    // A caller that is gone ends the program.
    let running = tokio::spawn(async move { run_shell(&shell, "sleep 86405.5", 60).await });
    until("the program runs", || is_running("86405.5")).await;
    running.abort();
    until("no process of the program is left", || !is_running("86405.5")).await;
}

#[tokio::test]
async fn files_and_outputs_are_bounded() {
    let Some((shell, _)) = shell().await else { return };
    for directory in ["/home", "/tmp", "/dev/shm"] {
        let code = format!(
            "cd {directory}; for n in 1 2 3; do head -c 40M /dev/zero > f$n 2> /dev/null; done; \
             [ $(cat f1 f2 f3 | wc -c) -le 67108864 ] && echo bounded"
        );
        let outcome = run_shell(&shell, &code, 30).await;
        assert_eq!(outcome.stdout, "bounded\n", "{code}: {outcome:?}");
    }
    let outcome = run_shell(&shell, "yes | head -c 5000000; yes x | head -c 5000000 >&2", 30).await;
    assert_eq!((outcome.stdout.len(), outcome.stderr.len()), (MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES));
    assert!(outcome.truncated && outcome.exit_code == 0, "{}", outcome.exit_code);
    // The files of one program are not those of the next.
    let outcome = run_shell(&shell, "ls -A /home /dev/shm", 20).await;
    assert_eq!(outcome.stdout, "/dev/shm:\n\n/home:\n");
}

#[tokio::test]
async fn session_that_ends_and_programs_that_end_the_guest_are_reported() {
    let Some((shell, sandbox)) = shell().await else {
        return;
    };
    let outcome = run_shell(&shell, "kill -9 $PPID; sleep 60", 20).await;
    assert!(outcome.exit_code != 0 && !outcome.killed && outcome.error.is_some(), "{outcome:?}");
    let small = SandboxConfig { memory_bytes: 1024 * 1024, ..sandbox };
    let config = websvc_sandbox::InterpreterConfig {
        language: Language::Bash,
        program: "/bin/bash".into(),
        library: None,
    };
    // The check itself may be over before the first measurement.
    if let Ok(shell) = Interpreter::prepare(config, small).await {
        let outcome = run_shell(&shell, "sleep 60", 20).await;
        assert_eq!(
            outcome.error.as_deref(),
            Some("the program was ended: out of memory: a program may use 1 MiB")
        );
    }
}

/// Python with a page, for attacks that a shell cannot express.
async fn python() -> Option<(Interpreter, Browser, Page)> {
    let Some(chromium) = chromium() else {
        skip("no Chromium (WEBSVC_TEST_CHROMIUM)");
        return None;
    };
    let python = prepare(Language::Python).await?;
    let browser = Browser::start(chromium).await;
    let page = browser.first_page().await;
    Some((python, browser, page))
}

#[tokio::test]
async fn memory_and_processes_are_bounded() {
    let Some((python, _browser, mut page)) = python().await else { return };
    let forks = r"
import os, time
count = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
except BlockingIOError:
    print(0 < count < 64)";
    let memory = r"
import os, time
for _ in range(4):
    if os.fork() == 0:
        block = b'x' * (300 << 20)
        time.sleep(60)
time.sleep(60)";
    let denied = r"
import os, socket, ctypes
libc = ctypes.CDLL(None, use_errno=True)
def outcome(call):
    try:
        return call()
    except OSError as error:
        return error.errno
print(outcome(lambda: os.memfd_create('x')), outcome(lambda: socket.socket(40, socket.SOCK_STREAM)),
      outcome(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)),
      outcome(lambda: socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)),
      outcome(lambda: socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)), libc.shmget(0, 4096, 0o1600),
      libc.unshare(0x10000000), libc.ptrace(0, 0, 0, 0))";
    for (code, stdout, error) in [
        ("try:\n  bytearray(2 << 30)\nexcept MemoryError:\n  print('none')", "none\n", None),
        (forks, "True\n", None),
        (memory, "", Some("the program was ended: out of memory: a program may use 512 MiB")),
        (denied, "1 1 1 1 1 -1 -1 -1\n", None),
        ("import os\nprint(sorted(os.environ))", "['HOME', 'LANG', 'PATH']\n", None),
        ("print(await page.title() or 'still there')", "still there\n", None),
    ] {
        let outcome = page.interpret(&python, program(Language::Python, code, 30)).await;
        assert_eq!(
            (outcome.stdout.as_str(), outcome.error.as_deref()),
            (stdout, error),
            "{code}: {outcome:?}"
        );
    }
    // On a busy machine, Python needs seconds until it prints.
    let endless =
        page.interpret(&python, program(Language::Python, "print('a')\nwhile True: pass", 15)).await;
    assert!(endless.killed && endless.stdout == "a\n", "{endless:?}");
}
