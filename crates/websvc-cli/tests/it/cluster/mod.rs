//! Tests of several replicas of the service: on one PostgreSQL database and one bucket, behind a load balancer.
//!
//! They need the server that `WEBSVC_TEST_REPLICAS` names, and skip themselves without it; `cargo xtask cluster` starts
//! one.

mod agents;
mod balancer;
mod clocks;
mod extractions;
mod failures;
mod faults;
mod limits;
mod outbox;
mod requests;
mod sessions;
mod spread;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};

use http::{Method, StatusCode};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_postgres::{NoTls, SimpleQueryMessage};
use websvc_testkit::{FakeS3, S3Fs, TestWeb, TestWebBuilder};

use self::balancer::Balancer;
use crate::harness::{KEY, Response, Service, Site, skip};

const VARIABLE: &str = "WEBSVC_TEST_REPLICAS";

/// Number of replicas.
const REPLICAS: usize = 3;

/// Replicas of the service, with a database schema and a bucket of their own.
struct Cluster {
    sites: Vec<Site>,
    /// `None` after a replica was killed or stopped.
    replicas: Vec<Option<Service>>,
    balancer: Balancer,
    /// The URL of the database.
    url: String,
    database: Database,
    bucket: S3Fs,
    /// Variables of the processes, for each replica.
    settings: Vec<Variables>,
}

/// Names and values of environment variables.
type Variables = Vec<(&'static str, OsString)>;

impl Cluster {
    /// Starts the replicas; returns `None` without a server, and records that the test is skipped.
    async fn start(world: &TestWeb) -> Option<Self> {
        let (database, url) = Database::create().await?;
        Some(Self::start_on(world, database, url).await)
    }

    /// Starts the replicas with variables for each.
    async fn start_with(world: &TestWeb, settings: Vec<Variables>) -> Option<Self> {
        let (database, url) = Database::create().await?;
        Some(Self::start_all(world, database, url, settings).await)
    }

    /// Starts the replicas on a database, to which they connect with `url`.
    async fn start_on(world: &TestWeb, database: Database, url: String) -> Self {
        Self::start_all(world, database, url, vec![Variables::new(); REPLICAS]).await
    }

    async fn start_all(world: &TestWeb, database: Database, url: String, settings: Vec<Variables>) -> Self {
        let (balancer, bucket) = (Balancer::start().await, S3Fs::start().await);
        let sites: Vec<Site> = (0..REPLICAS).map(|_| Site::new(world)).collect();
        let mut cluster = Self { sites, replicas: Vec::new(), balancer, url, database, bucket, settings };
        for number in 0..REPLICAS {
            let service = cluster.serve(number);
            cluster.balancer.add(&service.address);
            cluster.replicas.push(Some(service));
        }
        cluster
    }

    /// Starts the process of a replica.
    fn serve(&self, number: usize) -> Service {
        let log = self.sites[number].data_dir().join("log.txt");
        let mut command = self.command(number, &["serve", "--listen", "127.0.0.1:0"]);
        Service::start_logging(command.env("WEBSVC_API_KEY", KEY), &log)
    }

    /// Returns a command with the configuration of a replica.
    fn command(&self, number: usize, arguments: &[&str]) -> Command {
        let mut command = self.sites[number].command(arguments);
        command.env("WEBSVC__STORE__URL", &self.url);
        command.env("WEBSVC__SERVER__PUBLIC_URL", &self.balancer.address);
        for (name, value) in [
            ("ENDPOINT", self.bucket.endpoint().as_str()),
            ("REGION", FakeS3::REGION),
            ("BUCKET", FakeS3::BUCKET),
            ("ACCESS_KEY_ID", FakeS3::ACCESS_KEY_ID),
            ("SECRET_ACCESS_KEY", FakeS3::SECRET),
        ] {
            command.env(format!("WEBSVC__ARTIFACTS__S3__{name}"), value);
        }
        command.envs(self.settings[number].iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command of the program that must succeed.
    fn succeed(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(0, arguments).output().unwrap();
        assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }

    fn replica(&self, number: usize) -> &Service {
        self.replicas[number].as_ref().unwrap()
    }

    /// Returns a client that sends its requests to the balancer.
    fn client(&self) -> Service {
        Service::at(&self.balancer.address)
    }

    /// Kills a replica, and removes it from the balancer.
    fn kill(&mut self, number: usize) {
        let service = self.replicas[number].take().unwrap();
        service.kill();
        self.balancer.remove(&service.address);
    }

    /// Starts a replica again, in its data directory.
    fn restart(&mut self, number: usize) {
        let service = self.serve(number);
        self.balancer.add(&service.address);
        self.replicas[number] = Some(service);
    }

    /// Returns the data directory of a replica.
    fn data_dir(&self, number: usize) -> &Path {
        self.sites[number].data_dir()
    }
}

/// A schema of the server.
struct Database {
    url: String,
    schema: String,
}

impl Database {
    /// Creates a schema, and returns it with the URL that selects it.
    async fn create() -> Option<(Self, String)> {
        let Some(url) = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty()) else {
            skip(&format!("{VARIABLE} is not set"));
            return None;
        };
        let schema = format!("cluster_{}", uuid::Uuid::new_v4().simple());
        let database = Self { url, schema };
        database.rows(&format!("CREATE SCHEMA {}", database.schema)).await;
        let url = format!("{}?options=-csearch_path%3D{}", database.url, database.schema);
        Some((database, url))
    }

    /// Returns the address of the server.
    fn address(&self) -> String {
        let url: url::Url = self.url.parse().unwrap();
        format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432))
    }

    /// Returns the rows of a query, with all values as texts.
    async fn rows(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let config: tokio_postgres::Config = self.url.parse().unwrap();
        let stream = TcpStream::connect(self.address()).await.unwrap();
        let (client, connection) = config.connect_raw(stream, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.simple_query(&format!("SET search_path TO {}", self.schema)).await.unwrap();
        let messages = client.simple_query(sql).await.unwrap();
        connection.abort();
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
            }
            _ => None,
        });
        rows.collect()
    }

    /// Returns the first value of a query, which is a number.
    async fn number(&self, sql: &str) -> u64 {
        self.rows(sql).await[0][0].as_ref().map_or(0, |text| text.parse().unwrap())
    }

    /// Checks that no URL has two documents, that each job was charged for each of its pages once, and that all budgets
    /// add up.
    async fn check_jobs_and_budgets(&self) {
        let repeated =
            "SELECT count(*) FROM (SELECT 1 FROM job_documents GROUP BY job, place HAVING count(*) > 1) AS r";
        assert_eq!(self.number(repeated).await, 0, "a page has two documents");
        let charged = "SELECT count(*) FROM jobs WHERE credits <> documents";
        assert_eq!(self.number(charged).await, 0, "a page was charged twice or not at all");
        let wrong = "SELECT count(*) FROM grants WHERE granted <> balance + voided + spent + \
                     (SELECT coalesce(sum(rest), 0) FROM leases WHERE grant_id = grants.id)";
        assert_eq!(self.number(wrong).await, 0, "the credits of a grant do not add up");
    }
}

/// Starts a web with `pages` numbered pages of a host.
pub(crate) async fn numbered_pages(pages: usize, response_time: std::time::Duration) -> TestWeb {
    numbered_pages_of(&["list.test"], pages, response_time).await
}

/// Starts a web with `pages` numbered pages of each host.
async fn numbered_pages_of(hosts: &[&str], pages: usize, response_time: std::time::Duration) -> TestWeb {
    numbered_pages_builder(hosts, pages, response_time).start().await
}

fn numbered_pages_builder(
    hosts: &[&str],
    pages: usize,
    response_time: std::time::Duration,
) -> TestWebBuilder {
    use websvc_testkit::Page;

    let mut world = TestWeb::builder();
    let links: String = (0..pages).map(|number| format!("<a href=/{number}>{number}</a> ")).collect();
    for host in hosts {
        let list = Page::html(format!("<title>List</title><main>{links}</main>"));
        world = world.page(&format!("http://{host}/"), list);
        for number in 0..pages {
            let text = format!(
                "<title>Page {number}</title><main><h1>Page {number}</h1><p>Text {number}.</p></main>"
            );
            world = world.page(&format!("http://{host}/{number}"), Page::html(text).delay(response_time));
        }
    }
    world
}

pub(crate) fn urls(pages: std::ops::Range<usize>) -> Vec<String> {
    pages.map(|number| format!("http://list.test/{number}")).collect()
}

async fn delete(service: &Service, path: &str) -> Response {
    service.send(Method::DELETE, path, &[], String::new()).await
}

/// Starts a job, and returns the path of its status.
pub(crate) async fn start_job(service: &Service, endpoint: &str, body: Value) -> String {
    let response = service.post(endpoint, body.to_string()).await;
    assert_eq!(response.status, StatusCode::OK, "{}", response.body);
    format!("{endpoint}/{}", response.body["id"].as_str().unwrap())
}
