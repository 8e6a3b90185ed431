//! Sends search requests to sources and checks the responses.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use websvc_engine::{Hit, SearchSource, SourceRequest, SourceResponse};
use websvc_query::{Query, Tbs, parse, parse_tbs};
use websvc_testkit::TestWeb;
use websvc_transport::{Client, ClientConfig};
use websvc_validate::{DomainFilter, SourceKind};

/// An owned search request.
pub(crate) struct TestRequest {
    pub(crate) kind: SourceKind,
    pub(crate) query: Query,
    pub(crate) tbs: Option<Tbs>,
    pub(crate) limit: usize,
    pub(crate) domains: DomainFilter,
    pub(crate) country: Option<&'static str>,
    pub(crate) location: Option<&'static str>,
    pub(crate) safe: bool,
    pub(crate) timeout: Duration,
    pub(crate) now: Timestamp,
}

impl TestRequest {
    pub(crate) fn new(kind: SourceKind, query: &str) -> Self {
        Self {
            kind,
            query: parse(query).query,
            tbs: None,
            limit: 10,
            domains: DomainFilter::Any,
            country: None,
            location: None,
            safe: false,
            timeout: Duration::from_secs(30),
            now: "2024-05-10T12:00:00Z".parse().unwrap(),
        }
    }

    pub(crate) fn tbs(mut self, tbs: &str) -> Self {
        self.tbs = parse_tbs(tbs).unwrap();
        self
    }

    pub(crate) async fn send(&self, source: &dyn SearchSource) -> SourceResponse {
        let request = SourceRequest {
            kind: self.kind,
            query: &self.query,
            categories: &[],
            limit: self.limit,
            domains: &self.domains,
            tbs: self.tbs.as_ref(),
            country: self.country,
            location: self.location,
            safe: self.safe,
            highlights: true,
            now: self.now,
            deadline: Instant::now() + self.timeout,
        };
        source.search(&request).await
    }

    /// Searches a source that must return results.
    pub(crate) async fn hits(&self, source: &dyn SearchSource) -> (Vec<Hit>, Vec<String>) {
        match self.send(source).await {
            SourceResponse::Results { hits, warnings } => (hits, warnings),
            SourceResponse::Unavailable { failure: _, reason } => panic!("unavailable: {reason}"),
        }
    }

    /// Searches a source that must fail. Returns the reason.
    pub(crate) async fn reason(&self, source: &dyn SearchSource) -> String {
        match self.send(source).await {
            SourceResponse::Results { hits, warnings } => panic!("results: {hits:?} {warnings:?}"),
            SourceResponse::Unavailable { failure: _, reason } => reason,
        }
    }
}

pub(crate) fn urls(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.url.as_str()).collect()
}

/// Returns a client that resolves all hosts to the loopback web.
pub(crate) fn client(world: &TestWeb) -> Client {
    let mut config = ClientConfig::new(world.guard());
    config.ca_file = Some(world.ca_file());
    Client::new(config).unwrap()
}
