//! The processes under test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use websvc_testkit::TestWeb;

/// The API key of every service.
pub(crate) const KEY: &str = "fc-key-of-the-benchmark";

/// The unit of times in `/proc/PID/stat`: `USER_HZ` is 100 on common Linux systems.
const TICKS_PER_SECOND: f64 = 100.0;

/// A running server that is pinned to the first core. Dropping it kills the process.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: String,
    /// Time from the start of the process to its first response.
    pub(crate) first_response: Duration,
}

/// The cost of a GET with hyper alone.
pub(crate) struct PlainGet {
    pub(crate) p50_ms: f64,
    pub(crate) cpu_ms: f64,
}

impl Process {
    /// Starts an example server of the transport crate.
    pub(crate) fn example(name: &str) -> Self {
        Self::start(pinned(&release_dir().join("examples").join(name)))
    }

    /// Starts the service.
    pub(crate) fn service(world: &TestWeb, data_dir: &Path) -> Self {
        Self::service_with(world, data_dir, &[])
    }

    /// Starts the service with additional environment variables.
    pub(crate) fn service_with(world: &TestWeb, data_dir: &Path, variables: &[(&str, &str)]) -> Self {
        let mut command = pinned(&release_dir().join("websvc"));
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        configure(&mut command, world, data_dir);
        command.envs(variables.iter().copied());
        Self::start(command)
    }

    /// Runs a command of the program and returns its stdout.
    pub(crate) async fn run(world: &TestWeb, data_dir: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new(release_dir().join("websvc"));
        command.args(arguments);
        configure(&mut command, world, data_dir);
        // A blocking call would stop the test web, which runs on this thread's runtime.
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the example that searches with tantivy alone, and returns its searches per second.
    pub(crate) fn bare_tantivy(index: &Path, queries: &[String]) -> f64 {
        let mut command = pinned(&release_dir().join("examples").join("bare_tantivy"));
        let output = command.arg(index).args(queries).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }

    /// Runs the example that repeatedly fetches a page with plain hyper.
    pub(crate) async fn plain_get(server: SocketAddr, url: &str, duration: Duration) -> PlainGet {
        let mut command = pinned(&release_dir().join("examples").join("plain_get"));
        command.args([server.to_string(), url.to_owned(), duration.as_secs().to_string()]);
        // A blocking call would stop the test web, which runs on this thread's runtime.
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let stdout = String::from_utf8(output.stdout).unwrap();
        let (p50_ms, cpu_ms) = stdout.trim().split_once(' ').unwrap();
        PlainGet { p50_ms: p50_ms.parse().unwrap(), cpu_ms: cpu_ms.parse().unwrap() }
    }

    fn start(mut command: Command) -> Self {
        let started = Instant::now();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("://").next().unwrap().rsplit(' ').next().unwrap().to_owned();
        wait_for_response(&address);
        let first_response = started.elapsed();
        Self { child, address, first_response }
    }

    /// Returns the process ID.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the CPU time that the process has used, in seconds.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        ticks(&format!("/proc/{}/stat", self.child.id()), [11, 12]) / TICKS_PER_SECOND
    }

    /// Sends SIGTERM after `delay`, and returns the exit status.
    pub(crate) async fn terminate_after(mut self, delay: Duration) -> ExitStatus {
        tokio::time::sleep(delay).await;
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the service does not stop");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Returns the resident memory.
    pub(crate) fn memory_mb(&self) -> f64 {
        self.status_mb("VmRSS:")
    }

    /// Returns the resident memory without mapped files.
    pub(crate) fn anonymous_memory_mb(&self) -> f64 {
        self.status_mb("RssAnon:")
    }

    /// Returns the peak of the resident memory.
    pub(crate) fn peak_memory_mb(&self) -> f64 {
        self.status_mb("VmHWM:")
    }

    fn status_mb(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        let kilobytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kilobytes / 1024.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Pins this process and its future threads to a core.
pub(crate) fn pin_self_to(core: usize) {
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > core) {
        let pid = std::process::id().to_string();
        Command::new("taskset")
            .args(["-cp", &core.to_string(), &pid])
            .stdout(Stdio::null())
            .status()
            .unwrap();
    }
}

/// Returns the CPU time that this thread has used.
pub(crate) fn cpu_seconds_of_this_thread() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    schedstat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Returns the CPU time that the ended children of this process have used.
pub(crate) fn cpu_seconds_of_children() -> f64 {
    ticks("/proc/self/stat", [13, 14]) / TICKS_PER_SECOND
}

/// Returns the sum of fields of a `stat` file, counted from the state of the process.
fn ticks(stat: &str, fields: [usize; 2]) -> f64 {
    let stat = std::fs::read_to_string(stat).unwrap();
    // The program name in parentheses may contain spaces.
    let all: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields.map(|field| all[field].parse::<f64>().unwrap()).iter().sum()
}

/// Returns a command that runs `program` on the first core.
pub(crate) fn pinned(program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(program);
    command
}

fn configure(command: &mut Command, world: &TestWeb, data_dir: &Path) {
    let rules: Vec<String> =
        world.connect_to().into_iter().map(|(from, to)| format!("{from:?} = {to:?}")).collect();
    command
        .env("WEBSVC_API_KEY", KEY)
        .env("WEBSVC_DATA_DIR", data_dir)
        .env("WEBSVC__FETCH__CONNECT_TO", format!("{{ {} }}", rules.join(", ")));
}

/// Returns the path of a program of this build.
pub(crate) fn program_path(name: &str) -> PathBuf {
    release_dir().join(name)
}

/// Returns the memory of a process and its descendants. Each has its share of the pages that several have (PSS).
pub(crate) fn tree_memory_mb(root: u32) -> f64 {
    let mut processes = vec![root];
    let mut kilobytes = 0.0;
    while let Some(process) = processes.pop() {
        let summary = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
        let pss = summary.lines().find_map(|line| line.strip_prefix("Pss:"));
        let pss =
            pss.and_then(|line| line.split_whitespace().next()).and_then(|value| value.parse::<f64>().ok());
        kilobytes += pss.unwrap_or_default();
        for thread in std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            processes.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
    }
    kilobytes / 1024.0
}

/// Returns the directory with the programs of this build.
fn release_dir() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(2).unwrap().to_owned()
}

fn wait_for_response(address: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let response = TcpStream::connect(address).and_then(|mut stream| {
            stream.write_all(b"GET /health HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")?;
            let mut byte = [0];
            stream.read_exact(&mut byte)
        });
        if response.is_ok() {
            return;
        }
        assert!(Instant::now() < deadline, "{address} does not respond: {response:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
