//! Measures browser sessions: their start, a click, their memory, and the workers that run their code.

mod memory;
mod worker;

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use websvc_testkit::TestWeb;

use crate::connection::Connection;
use crate::load::Request;
use crate::process::Process;
use crate::report::Report;

/// The variable with the path of Chromium.
const CHROMIUM: &str = "WEBSVC_TEST_CHROMIUM";
/// The variables with the paths of bubblewrap and of a Python with the package playwright.
const INTERPRETERS: [&str; 2] = ["WEBSVC_TEST_BUBBLEWRAP", "WEBSVC_TEST_PLAYWRIGHT_PYTHON"];

/// Starts of a session in a service that has just started.
const COLD_STARTS: usize = 7;
/// Starts of a session in a service that has had one before.
const WARM_STARTS: usize = 25;
/// Clicks of each kind.
const CLICKS: usize = 60;
/// Programs of an interpreter.
const PROGRAMS: usize = 10;
/// Idle sessions whose memory is measured.
const IDLE_SESSIONS: usize = 20;

/// The code that a session runs first.
const TITLE: &str = "await page.title()";
/// A page with a button in its upper left corner.
const BUTTON: &str =
    "await page.setContent('<body style=\"margin:0\"><button style=\"width:200px;height:100px\">Go')";

/// Measures sessions of a service with Chromium.
pub(crate) async fn run(report: &mut Report) {
    worker::run(report).await;
    let Ok(chromium) = std::env::var(CHROMIUM) else {
        println!("bench: sessions are skipped, {CHROMIUM} is not set");
        return;
    };
    let world = TestWeb::builder().start().await;
    let sessions = IDLE_SESSIONS.to_string();
    let mut variables = vec![
        ("WEBSVC__BROWSER__PATH", chromium),
        ("WEBSVC__INTERACT__MAX_SESSIONS", sessions.clone()),
        ("WEBSVC__INTERACT__MAX_SESSIONS_PER_TEAM", sessions.clone()),
        ("WEBSVC__LIMITS__CONCURRENCY", sessions),
        ("WEBSVC__LIMITS__REQUESTS_PER_MINUTE", "100000".to_owned()),
    ];
    let interpreter = INTERPRETERS.map(|name| std::env::var(name).ok());
    let has_python = if let [Some(bubblewrap), Some(python)] = interpreter {
        variables.push(("WEBSVC__INTERACT__BUBBLEWRAP", bubblewrap));
        variables.push(("WEBSVC__INTERACT__INTERPRETERS__PYTHON", python));
        true
    } else {
        println!("bench: the row of Python is skipped, one of {} is not set", INTERPRETERS.join(", "));
        false
    };
    let start = || {
        let data = tempfile::tempdir().unwrap();
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        (Process::service_with(&world, data.path(), &variables), data)
    };
    let cold = (0..COLD_STARTS).map(|_| {
        let (process, _data) = start();
        time_to_title(&process)
    });
    let cold: Vec<Duration> = cold.collect();
    let (process, _data) = start();
    time_to_title(&process);
    let warm: Vec<Duration> = (0..WARM_STARTS).map(|_| time_to_title(&process)).collect();
    for (name, times, goal) in [
        ("session start to page.title(), first one of a service", cold, "p50 under 1500"),
        ("session start to page.title(), later ones", warm, "p50 under 400"),
    ] {
        report_times(name, times, goal, report);
    }
    clicks(&process, report).await;
    if has_python {
        programs(&process, report);
    }
    memory::run(&process, report).await;
}

/// A session of the service. Its owner deletes it.
struct Session {
    id: String,
    cdp_url: String,
}

impl Session {
    fn create(connection: &mut Connection) -> Self {
        let created = connection.post("/v2/browser", &json!({ "ttl": 600 }));
        let text = |field: &str| created[field].as_str().unwrap().to_owned();
        Self { id: text("id"), cdp_url: text("cdpUrl") }
    }

    /// Runs code and returns its result.
    fn execute(&self, connection: &mut Connection, language: &str, code: &str) -> String {
        let body = json!({ "code": code, "language": language, "timeout": 60 });
        let outcome = connection.post(&format!("/v2/browser/{}/execute", self.id), &body);
        assert!(outcome["exitCode"] == 0, "{outcome}");
        outcome["result"].as_str().unwrap_or_default().to_owned()
    }

    fn delete(self, connection: &mut Connection) {
        let path = format!("/v2/browser/{}", self.id);
        connection.send(&Request::get(&path).with_method("DELETE"));
    }
}

/// Returns the time from the request for a session to the title of its page.
fn time_to_title(process: &Process) -> Duration {
    let mut connection = Connection::open(process);
    let started = Instant::now();
    let session = Session::create(&mut connection);
    session.execute(&mut connection, "node", TITLE);
    let elapsed = started.elapsed();
    session.delete(&mut connection);
    elapsed
}

/// Compares clicks of a program with the three commands of a click over the DevTools protocol.
async fn clicks(process: &Process, report: &mut Report) {
    let mut connection = Connection::open(process);
    let session = Session::create(&mut connection);
    session.execute(&mut connection, "node", BUTTON);
    let mut client = Client::connect(&process.address, &session.cdp_url).await;
    client.click().await;
    let mut bare = Vec::new();
    for _ in 0..CLICKS {
        let started = Instant::now();
        client.click().await;
        bare.push(started.elapsed());
    }
    drop(client);
    let code = format!(
        "const times = []; for (let i = 0; i < {CLICKS}; i++) {{ const start = Date.now(); \
         await page.click('button'); times.push(Date.now() - start); }} times"
    );
    let times: Vec<u64> = serde_json::from_str(&session.execute(&mut connection, "node", &code)).unwrap();
    let in_program: Vec<Duration> = times.into_iter().map(Duration::from_millis).collect();
    let mut requests = Vec::new();
    for _ in 0..CLICKS {
        let started = Instant::now();
        session.execute(&mut connection, "node", "await page.click('button')");
        requests.push(started.elapsed());
    }
    session.delete(&mut connection);
    let bare = report_times("click, three commands over cdpUrl", bare, "", report);
    let in_program = report_times("click, page.click() in a program", in_program, "", report);
    let request = report_times("click, one program with one page.click()", requests, "", report);
    report.number("page.click() above the three commands", in_program - bare, "ms", "under 60");
    report.number("a program with one click above the three commands", request - bare, "ms", "");
    report.ratio("page.click() / three commands", in_program / bare, "");
}

/// Measures a program of Python, whose interpreter starts for each.
fn programs(process: &Process, report: &mut Report) {
    let mut connection = Connection::open(process);
    let session = Session::create(&mut connection);
    let times = (0..PROGRAMS).map(|_| {
        let started = Instant::now();
        session.execute(&mut connection, "python", "print(await page.title())");
        started.elapsed()
    });
    let times: Vec<Duration> = times.collect();
    session.delete(&mut connection);
    report_times("a program of Python in bubblewrap, page.title()", times, "", report);
}

/// Adds a row with percentiles, and returns the median in milliseconds.
fn report_times(name: &str, mut times: Vec<Duration>, goal: &str, report: &mut Report) -> f64 {
    times.sort_unstable();
    let ms = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    let text = format!("p50 {:.1} ms, p90 {:.1} ms, {} runs", ms(50), ms(90), times.len());
    report.text_with_goal(name, ms(50), text, goal);
    ms(50)
}

/// A client of the DevTools protocol that is attached to the page of a session.
struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    page: Value,
    last_id: u64,
}

impl Client {
    /// Connects to the path of `url` at an address: the host of the URL is that of the requests of the benchmark.
    async fn connect(address: &str, url: &str) -> Self {
        let path = url.split('/').skip(3).collect::<Vec<_>>().join("/");
        let (socket, _) = connect_async(format!("ws://{address}/{path}")).await.unwrap();
        let mut client = Self { socket, page: Value::Null, last_id: 0 };
        let targets = client.call("Target.getTargets", json!({})).await;
        let target = &targets["targetInfos"][0]["targetId"];
        let attached =
            client.call("Target.attachToTarget", json!({"targetId": target, "flatten": true})).await;
        client.page = attached["sessionId"].clone();
        client
    }

    async fn click(&mut self) {
        for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({"type": kind, "x": 50, "y": 50, "button": button, "buttons": buttons, "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event).await;
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if self.page.is_string() {
            command["sessionId"] = self.page.clone();
        }
        self.socket.send(Message::text(command.to_string())).await.unwrap();
        loop {
            let Message::Text(text) = self.socket.next().await.unwrap().unwrap() else { continue };
            let mut message: Value = serde_json::from_str(&text).unwrap();
            if message["id"] == self.last_id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }
}
