//! The service under evaluation: a process with a data directory of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde_json::Value;
use tempfile::TempDir;
use websvc_testkit::TestWeb;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use crate::error::EvaluationError;

/// The API key of the service.
const KEY: &str = "fc-key-of-the-evaluation";

/// The base URL of the oracle on the loopback web.
pub(crate) const ORACLE_URL: &str = "http://oracle.test/v1";

/// The time limit of a request: the longest that a scrape may have, and some time for its response.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(330);

/// The maximum time from the signal to the end of the process.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of bytes of the output of a failed command that the error has.
const OUTPUT_BYTES: usize = 2_000;

/// The program and its environment.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub(crate) path: &'a Path,
    pub(crate) chromium: Option<&'a Path>,
    /// Settings in addition to those of the sites and the browser, as variables of the environment.
    pub(crate) settings: Vec<(&'static str, String)>,
}

/// Numbers of the runs that have ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunCounts {
    pub(crate) ended: u64,
    pub(crate) steps: u64,
    pub(crate) tokens: u64,
}

/// A running service. Dropping it stops the process.
#[derive(Debug)]
pub(crate) struct Service {
    process: Child,
    address: String,
    client: Client,
    data: TempDir,
}

impl Program<'_> {
    fn command(&self, web: &TestWeb, data_dir: &Path, arguments: &[&str]) -> Command {
        // The sites are below `.test`, so that a model elsewhere is not mapped.
        let connect_to = format!(
            "{{ \"*.test:80\" = \"{}\", \"*.test:443\" = \"{}\" }}",
            web.http_addr(),
            web.https_addr()
        );
        let mut command = Command::new(self.path);
        command.args(arguments).env("WEBSVC_API_KEY", KEY).env("WEBSVC_DATA_DIR", data_dir);
        command.env("WEBSVC__FETCH__CONNECT_TO", connect_to).stdin(Stdio::null());
        match self.chromium {
            Some(chromium) => {
                command.env("WEBSVC__BROWSER__PATH", chromium).env("WEBSVC__BROWSER__CONCURRENCY", "2")
            }
            None => command.env("WEBSVC__BROWSER__CONCURRENCY", "0"),
        };
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Crawls sites into the index of a new data directory, and starts the service with it.
    pub(crate) async fn serve(&self, web: &TestWeb, crawled: &[&str]) -> Result<Service, EvaluationError> {
        let failed = |source| EvaluationError::Program { program: PathBuf::from(self.path), source };
        let data = tempfile::tempdir().map_err(failed)?;
        for url in crawled {
            let mut command = self.command(web, data.path(), &["index", "crawl", url, "--json"]);
            // A blocking call on this thread would stop the loopback web.
            let output = tokio::task::spawn_blocking(move || command.output()).await;
            let output = output.unwrap_or_else(|error| Err(error.into())).map_err(failed)?;
            if !output.status.success() {
                let output = end_of(&output.stderr);
                return Err(EvaluationError::Command { action: format!("the crawl of {url}"), output });
            }
        }
        let log = data.path().join("evaluation.log");
        let mut command = self.command(web, data.path(), &["serve", "--listen", "127.0.0.1:0"]);
        command.stdout(Stdio::piped()).stderr(std::fs::File::create(&log).map_err(failed)?);
        let mut process = command.spawn().map_err(failed)?;
        let mut line = String::new();
        let stdout = process.stdout.as_mut().expect("the output is piped");
        BufReader::new(stdout).read_line(&mut line).map_err(failed)?;
        let address = line.trim().strip_prefix("websvc listening on ").unwrap_or_default().to_owned();
        let client = Client::new(ClientConfig::new(AddressGuard::open()));
        match client {
            Ok(client) if !address.is_empty() => Ok(Service { process, address, client, data }),
            client => {
                stop(&mut process);
                let log = std::fs::read(&log).unwrap_or_default();
                let output = client.map_or_else(|error| error.to_string(), |_| end_of(&log));
                Err(EvaluationError::Command { action: "the start of the service".to_owned(), output })
            }
        }
    }
}

impl Service {
    /// Sends a request, and returns the JSON of a response with status 200.
    pub(crate) async fn json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, EvaluationError> {
        let request = format!("{method} {path}");
        let bytes = self.send(method, path, body).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| EvaluationError::Request { request, reason: error.to_string() })
    }

    /// Returns the numbers of all runs that have ended.
    pub(crate) async fn counts(&self) -> Result<RunCounts, EvaluationError> {
        let text = self.send(Method::GET, "/metrics", None).await?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let sum = |name: &str| -> u64 {
            let samples = text
                .lines()
                .filter(|line| line.starts_with(name) && line[name.len()..].starts_with([' ', '{']));
            samples.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
        };
        Ok(RunCounts {
            ended: sum("websvc_runs_total"),
            steps: sum("websvc_run_steps_total"),
            tokens: sum("websvc_run_tokens_total"),
        })
    }

    /// Returns the end of the log.
    pub(crate) fn log(&self) -> String {
        end_of(&std::fs::read(self.data.path().join("evaluation.log")).unwrap_or_default())
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Vec<u8>, EvaluationError> {
        let name = format!("{method} {path}");
        let failed = |reason: String| EvaluationError::Request { request: name.clone(), reason };
        let url = format!("{}{path}", self.address).parse().map_err(|error| failed(format!("{error}")))?;
        let mut request = FetchRequest::get(url);
        request.method = method;
        request.timeout = REQUEST_TIMEOUT;
        let key = HeaderValue::from_str(&format!("Bearer {KEY}")).expect("the key is a header value");
        request.headers.insert(AUTHORIZATION, key);
        if let Some(body) = body {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request.body = Some(body.to_string().into());
        }
        let response = self.client.fetch(request).await.map_err(|error| failed(error.to_string()))?;
        if response.status == http::StatusCode::OK {
            return Ok(response.body.to_vec());
        }
        Err(failed(format!("{} {}", response.status, end_of(&response.body))))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        stop(&mut self.process);
    }
}

/// Asks a process to end, waits for it, and kills it if it does not.
fn stop(process: &mut Child) {
    let asked = Command::new("kill").args(["-TERM", &process.id().to_string()]).status();
    let deadline = Instant::now() + STOP_TIMEOUT;
    while asked.is_ok() && Instant::now() < deadline {
        if !matches!(process.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // It may have ended in between.
    let _ = process.kill();
    let _ = process.wait();
}

fn end_of(output: &[u8]) -> String {
    let start = output.len().saturating_sub(OUTPUT_BYTES);
    String::from_utf8_lossy(&output[start..]).trim().to_owned()
}
