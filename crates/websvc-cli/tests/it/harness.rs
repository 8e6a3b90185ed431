//! Starts the program with a data directory of its own and asks it over HTTP.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_testkit::TestWeb;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, RedirectPolicy};

/// The key that every service of these tests knows.
pub(crate) const KEY: &str = "fc-test-key-of-the-harness";

/// How long a process may take to start, to stop or to do what is asked of it.
const PATIENCE: Duration = Duration::from_secs(150);

/// A data directory and what the program needs to know to reach a loopback web.
pub(crate) struct Site {
    directory: TempDir,
    connect_to: String,
}

impl Site {
    pub(crate) fn new(world: &TestWeb) -> Self {
        let rules = world.connect_to().into_iter().map(|(from, to)| format!("{from:?} = {to:?}"));
        let connect_to = format!("{{ {} }}", rules.collect::<Vec<_>>().join(", "));
        Self { directory: tempfile::tempdir().unwrap(), connect_to }
    }

    pub(crate) fn data_dir(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_websvc"));
        command
            .args(arguments)
            .env_remove("WEBSVC_API_KEY")
            .env_remove("WEBSVC_ADMIN_KEY")
            .env("WEBSVC_DATA_DIR", self.data_dir())
            .env("WEBSVC__FETCH__CONNECT_TO", &self.connect_to)
            // Whether a machine has a browser changes nothing but the tests of the browser.
            .env("WEBSVC__BROWSER__CONCURRENCY", "0")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that has to succeed, and returns what it printed.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn serve(&self) -> Service {
        Service::start(self.command(&["serve", "--listen", "127.0.0.1:0"]).env("WEBSVC_API_KEY", KEY))
    }
}

/// A running service; it is stopped when dropped.
pub(crate) struct Service {
    /// The data directory, when it is the service's own; it goes after the process.
    site: Option<Site>,
    process: Child,
    pub(crate) address: String,
    client: Client,
    pub(crate) key: String,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    /// How long it took to arrive.
    pub(crate) took: Duration,
}

impl Service {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::spawn(command.stderr(Stdio::null()))
    }

    /// Starts a service whose log goes into a file.
    pub(crate) fn start_logging(command: &mut Command, log: &Path) -> Self {
        Self::spawn(command.stderr(std::fs::File::create(log).unwrap()))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("websvc listening on ").unwrap_or_default().to_owned();
        assert!(!address.is_empty(), "the service did not start: {line:?}");
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        Self { site: None, process, address, client, key: KEY.to_owned() }
    }

    /// Starts a service with an empty index and a data directory of its own.
    pub(crate) fn of(world: &TestWeb) -> Self {
        let site = Site::new(world);
        let mut service = site.serve();
        service.site = Some(site);
        service
    }

    pub(crate) async fn search(&self, body: Value) -> Answer {
        self.post("/v2/search", body.to_string()).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<String>) -> Answer {
        let body: String = body.into();
        self.send(Method::POST, path, &[(CONTENT_TYPE.as_str(), "application/json")], body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], String::new()).await
    }

    /// Sends a request with the service's key unless the headers say otherwise; an empty value leaves a header out.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Answer {
        let mut request = FetchRequest::get(format!("{}{path}", self.address).parse().unwrap());
        request.method = method;
        request.timeout = PATIENCE;
        // Several formats of a large page come in one answer.
        (request.max_body_bytes, request.max_decoded_bytes) = (1 << 30, 1 << 30);
        request.redirects = RedirectPolicy::None;
        request
            .headers
            .insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {}", self.key)).unwrap());
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            if value.is_empty() {
                request.headers.remove(name);
            } else {
                request.headers.insert(name, value.parse().unwrap());
            }
        }
        let body: Vec<u8> = body.into();
        request.body = (!body.is_empty()).then(|| body.into());
        let started = Instant::now();
        let answer = self.client.fetch(request).await.unwrap();
        let took = started.elapsed();
        let body = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        Answer { status: answer.status, headers: answer.headers, body, took }
    }

    /// Returns what is at a path, as text, which anybody may read.
    pub(crate) async fn text(&self, path: &str) -> String {
        let request = FetchRequest::get(format!("{}{path}", self.address).parse().unwrap());
        let answer = self.client.fetch(request).await.unwrap();
        assert_eq!(answer.status, StatusCode::OK);
        String::from_utf8(answer.body.to_vec()).unwrap()
    }

    /// Returns the type and the bytes of a file, which anybody may have who knows its path.
    pub(crate) async fn file(&self, path: &str) -> (String, Vec<u8>) {
        let request = FetchRequest::get(format!("{}{path}", self.address).parse().unwrap());
        let answer = self.client.fetch(request).await.unwrap();
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let kind = answer.headers.get(CONTENT_TYPE).unwrap().to_str().unwrap().to_owned();
        (kind, answer.body.to_vec())
    }

    /// Asks until the query has results; pages are searchable within two seconds.
    pub(crate) async fn search_until_found(&self, query: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = self.search(json!({ "query": query })).await;
            let found = answer.body["data"]["web"].as_array().is_some_and(|results| !results.is_empty());
            if found || Instant::now() > deadline {
                return answer.body;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Puts pages into the index, each found by its own word, which the list has before its URL.
    pub(crate) async fn list(&self, pages: &[(&str, &str)]) {
        let document = |(word, url): &(&str, &str)| json!({"url": url, "title": "Listed", "body": word});
        let documents: Vec<Value> = pages.iter().map(document).collect();
        let answer = self.post("/v2/index/documents", json!({ "documents": documents }).to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        for (word, _) in pages {
            self.search_until_found(word).await;
        }
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&self) {
        signal(&self.process, "KILL");
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        signal(&self.process, "TERM");
    }

    /// Sends SIGTERM and returns how the process ended.
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.end()
    }

    /// Does the same, and leaves what is known of the service.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.terminate();
        wait(&mut self.process)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.terminate();
        wait(&mut self.process);
    }
}

/// Sends a signal to a process that may have ended.
pub(crate) fn signal(process: &Child, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), process.id().to_string()]).output();
    assert!(sent.is_ok(), "kill is part of every system these tests run on");
}

/// Waits for the end of a process; one that does not end is killed and fails the test.
pub(crate) fn wait(process: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = process.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > deadline {
            process.kill().unwrap();
            process.wait().unwrap();
            panic!("the process did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Notes that a test did nothing, where the gate counts it.
pub(crate) fn skip(test: &str, reason: &str) {
    websvc_testkit::skip_test(test, reason);
}

/// A site of several hosts that link to each other.
pub(crate) async fn tea_world() -> TestWeb {
    use websvc_testkit::Page;
    TestWeb::builder()
        .page(
            "http://tea.test/",
            Page::html(
                "<html lang=en><title>Tea house</title><main><h1>Tea house</h1><p>Everything about brewing tea.</p>\
                 <a href=/green.html>Green tea</a> <a href=/oolong.html>Oolong</a> <a href=/secret/plan.html>Plan</a>\
                 <a href=http://coffee.test/>Coffee</a> <a href=/missing.html>Gone</a></main>",
            ),
        )
        .page(
            "http://tea.test/green.html",
            Page::html(
                "<html lang=en><title>Green tea</title><meta name=description content='How to brew green tea.'>\
                 <nav><a href=/>Home</a></nav><main><h1>Green tea</h1><p>Green tea wants water of seventy degrees, \
                 never boiling, and two minutes of patience.</p><table><tr><th>Leaf<th>Grams</tr>\
                 <tr><td>Sencha<td>4</tr></table><p><a href=oolong.html>See oolong</a></p></main>",
            ),
        )
        .page(
            "http://tea.test/oolong.html",
            Page::html(
                "<html lang=en><title>Oolong</title><main><h1>Oolong</h1><p>Oolong is partly oxidised and is brewed \
                 many times over.</p></main>",
            ),
        )
        .page("http://tea.test/secret/plan.html", Page::html("<title>Plan</title><p>A secret plan.</p>"))
        .page("http://tea.test/robots.txt", Page::text("User-agent: *\nDisallow: /secret/\n"))
        .page(
            "http://coffee.test/",
            Page::html(
                "<html lang=en><title>Coffee house</title><main><h1>Coffee</h1><p>Grind the beans freshly and pour \
                 water over the coffee.</p></main>",
            ),
        )
        .start()
        .await
}
