//! Starts the program in a temporary data directory and sends it HTTP requests.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_testkit::TestWeb;
pub(crate) use websvc_testkit::skip;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, RedirectPolicy};

/// The API key of every service in these tests.
pub(crate) const KEY: &str = "fc-test-key-of-the-harness";

/// Time limit for requests and for the end of a process.
const TIMEOUT: Duration = Duration::from_secs(150);

/// A temporary data directory, and the configuration that maps test hosts to a [`TestWeb`].
pub(crate) struct Site {
    directory: TempDir,
    connect_to: String,
}

impl Site {
    pub(crate) fn new(world: &TestWeb) -> Self {
        // Port 8081 is the same server, for requests to another port of a host.
        let other_port = ("*:8081".to_owned(), world.http_addr().to_string());
        let rules = world.connect_to().into_iter().chain([other_port]);
        let rules = rules.map(|(from, to)| format!("{from:?} = {to:?}"));
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
            // Only browser tests may depend on an installed browser.
            .env("WEBSVC__BROWSER__CONCURRENCY", "0")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command and returns its output.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and returns its stdout.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the command that starts a service with the API key of the tests.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("WEBSVC_API_KEY", KEY);
        command
    }

    pub(crate) fn serve(&self) -> Service {
        self.serve_with(&[])
    }

    /// Starts a service with these environment variables.
    pub(crate) fn serve_with(&self, settings: &[(&str, &str)]) -> Service {
        Service::start(self.serve_command().envs(settings.iter().copied()))
    }

    /// Creates a key with the program, and returns it.
    pub(crate) fn create_key(&self, options: &[&str]) -> String {
        self.succeed(&[&["keys", "create"], options].concat()).trim().to_owned()
    }
}

/// A running service. Dropping it stops the process.
pub(crate) struct Service {
    /// The data directory if the service owns it. It is removed after the process has ended.
    site: Option<Site>,
    /// The process, if this service has started it.
    process: Option<Mutex<Child>>,
    /// Its log, if it is in a file. It is printed if the test fails.
    log: Option<File>,
    pub(crate) address: String,
    client: Client,
    pub(crate) key: String,
}

/// An HTTP response with a JSON body.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    /// Time from the request to the complete response.
    pub(crate) elapsed: Duration,
}

impl Service {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::spawn(command.stderr(Stdio::null()))
    }

    /// Starts a service that writes its log to a file.
    pub(crate) fn start_logging(command: &mut Command, log: &Path) -> Self {
        let mut service = Self::spawn(command.stderr(File::create(log).unwrap()));
        service.log = Some(File::open(log).unwrap());
        service
    }

    fn spawn(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("websvc listening on ").unwrap_or_default().to_owned();
        assert!(!address.is_empty(), "the service did not start: {line:?}");
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        Self {
            site: None,
            process: Some(Mutex::new(process)),
            log: None,
            address,
            client,
            key: KEY.to_owned(),
        }
    }

    /// Returns a client of a service, or of a load balancer, that runs already.
    pub(crate) fn at(address: &str) -> Self {
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        let address = address.to_owned();
        Self { site: None, process: None, log: None, address, client, key: KEY.to_owned() }
    }

    /// Starts a service with an empty index in a new data directory.
    pub(crate) fn for_world(world: &TestWeb) -> Self {
        let site = Site::new(world);
        let mut service = site.serve();
        service.site = Some(site);
        service
    }

    pub(crate) async fn search(&self, body: Value) -> Response {
        self.post("/v2/search", body.to_string()).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<String>) -> Response {
        let body: String = body.into();
        self.send(Method::POST, path, &[(CONTENT_TYPE.as_str(), "application/json")], body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.send(Method::GET, path, &[], String::new()).await
    }

    /// Sends a request with the service's key and these headers. A header with an empty value is removed.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Response {
        let mut request = FetchRequest::get(format!("{}{path}", self.address).parse().unwrap());
        request.method = method;
        request.timeout = TIMEOUT;
        // A response may contain several formats of a large page.
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
        let response = self.client.fetch(request).await.unwrap();
        let elapsed = started.elapsed();
        let body = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
        Response { status: response.status, headers: response.headers, body, elapsed }
    }

    /// Fetches a path without a key, and returns its body as text.
    pub(crate) async fn text(&self, path: &str) -> String {
        let request = FetchRequest::get(format!("{}{path}", self.address).parse().unwrap());
        let response = self.client.fetch(request).await.unwrap();
        assert_eq!(response.status, StatusCode::OK);
        String::from_utf8(response.body.to_vec()).unwrap()
    }

    /// Fetches a file without a key, and returns its content type and its bytes.
    pub(crate) async fn file(&self, path: &str) -> (String, Vec<u8>) {
        let request = FetchRequest::get(format!("{}{path}", self.address).parse().unwrap());
        let response = self.client.fetch(request).await.unwrap();
        assert_eq!(response.status, StatusCode::OK, "{path}");
        let content_type = response.headers.get(CONTENT_TYPE).unwrap().to_str().unwrap().to_owned();
        (content_type, response.body.to_vec())
    }

    /// Repeats a search until it has results: pages become searchable within two seconds.
    pub(crate) async fn search_until_found(&self, query: &str) -> Value {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let response = self.search(json!({ "query": query })).await;
            let found = response.body["data"]["web"].as_array().is_some_and(|results| !results.is_empty());
            if found || Instant::now() > deadline {
                return response.body;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the process ID.
    pub(crate) fn id(&self) -> u32 {
        self.process.as_ref().expect("the service was started here").lock().unwrap().id()
    }

    /// Indexes pages, given as a word and a URL. A search for the word finds the page.
    pub(crate) async fn index_pages(&self, pages: &[(&str, &str)]) {
        let document = |(word, url): &(&str, &str)| json!({"url": url, "title": "Listed", "body": word});
        let documents: Vec<Value> = pages.iter().map(document).collect();
        let response = self.post("/v2/index/documents", json!({ "documents": documents }).to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
        for (word, _) in pages {
            self.search_until_found(word).await;
        }
    }

    /// Sends SIGKILL, and waits for the end: only then is the data directory free for the next process.
    pub(crate) fn kill(&self) {
        self.signal("KILL");
        if let Some(process) = &self.process {
            wait(&mut process.lock().unwrap());
        }
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal, unless the process has ended: another one may have its ID then.
    pub(crate) fn signal(&self, name: &str) {
        if let Some(process) = &self.process {
            let mut process = process.lock().unwrap();
            if process.try_wait().unwrap().is_none() {
                signal(&process, name);
            }
        }
    }

    /// Sends SIGTERM, waits, and returns the exit status.
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.end()
    }

    /// Does the same, and keeps the service's values usable.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.terminate();
        let process = self.process.as_ref().expect("the service was started here");
        wait(&mut process.lock().unwrap())
    }
}

#[expect(clippy::print_stderr, reason = "libtest shows the log with the failed test")]
impl Drop for Service {
    fn drop(&mut self) {
        self.terminate();
        if let Some(process) = &self.process {
            wait(&mut process.lock().unwrap());
        }
        if let Some(log) = &mut self.log
            && std::thread::panicking()
        {
            let mut lines = Vec::new();
            // Another panic would hide the first one.
            let _ = log.read_to_end(&mut lines);
            eprintln!("log of the service:\n{}", String::from_utf8_lossy(&lines));
        }
    }
}

/// Checks that a response has these fields with these values. A field that is null here is absent there.
#[track_caller]
pub(crate) fn assert_fields(response: &Value, fields: &Value) {
    for (name, expected) in fields.as_object().unwrap() {
        let expected = Some(expected).filter(|value| !value.is_null());
        assert_eq!(response.get(name), expected, "{name} of {response}");
    }
}

/// Sends a signal to a process that may have ended.
pub(crate) fn signal(process: &Child, name: &str) {
    let result = Command::new("kill").args([format!("-{name}"), process.id().to_string()]).output();
    assert!(result.is_ok(), "the kill program is missing: {result:?}");
}

/// Waits for the end of a process. After the timeout, the process is killed and the test fails.
pub(crate) fn wait(process: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(status) = process.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > deadline {
            process.kill().unwrap();
            process.wait().unwrap();
            panic!("the process did not end within {TIMEOUT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a web of two hosts that link to each other.
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
