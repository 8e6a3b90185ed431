//! A real server for the tests, if `WEBSVC_TEST_ELASTICSEARCH` has its URL.
//!
//! The tests create indexes named `websvc-test-*` on it, and do not remove them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use websvc_engine::{
    Elasticsearch, ElasticsearchConfig, ElasticsearchDeclaration, ElasticsearchWriter, EndpointConfig,
    SearchSource,
};
use websvc_index::Document;
use websvc_transport::{AddressGuard, Client, ClientConfig};

/// The environment variable with the URL of the server.
const VARIABLE: &str = "WEBSVC_TEST_ELASTICSEARCH";

static INDEXES: AtomicU32 = AtomicU32::new(0);

/// A new index on the server.
pub(crate) struct RealIndex {
    config: ElasticsearchConfig,
    client: Client,
}

/// Returns a new index on the server; `None` if there is no server.
pub(crate) fn index() -> Option<RealIndex> {
    let url = std::env::var(VARIABLE).ok()?;
    let number = INDEXES.fetch_add(1, Ordering::Relaxed);
    let name = format!("websvc-test-{}-{number}", std::process::id());
    let declaration = json!({"url": url, "index": name, "write": true, "shards": 2, "replicas": 0});
    let declaration: ElasticsearchDeclaration = serde_json::from_value(declaration).unwrap();
    let config =
        ElasticsearchConfig::new("es".to_owned(), &declaration, EndpointConfig::default(), |_| None).unwrap();
    let guard = AddressGuard::public().allow("127.0.0.0/8".parse().unwrap());
    Some(RealIndex { config, client: Client::new(ClientConfig::new(guard)).unwrap() })
}

impl RealIndex {
    pub(crate) fn writer(&self) -> ElasticsearchWriter {
        ElasticsearchWriter::new(self.config.clone(), self.client.clone())
    }

    pub(crate) fn source(&self) -> Arc<dyn SearchSource> {
        Arc::new(Elasticsearch::new(self.config.clone(), self.client.clone()))
    }

    /// Writes documents, and returns when searches find them.
    pub(crate) async fn write(&self, documents: Vec<Document>) {
        let count = documents.len() as u64;
        let writer = self.writer();
        let written = writer.write(documents).await;
        assert_eq!(written.written, count, "{written:?}");
        writer.refresh().await.unwrap();
    }
}

/// Returns a new index with the documents; `None` if there is no server.
pub(crate) async fn filled(documents: &[Document]) -> Option<Arc<dyn SearchSource>> {
    let index = index()?;
    index.write(documents.to_vec()).await;
    Some(index.source())
}
