//! Embeds the whole service in a program, on a free port, and sends requests to it with the client.
//!
//! ```sh
//! cargo run -p websvc --example embed_server
//! ```
//!
//! Your own program needs `websvc` with the feature `server`.

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::time::Duration;

use tokio::sync::oneshot;
use websvc::Client;
use websvc::server::{EmbeddedServer, EmbeddedServerConfig};
use websvc::types::index::{IndexDocument, IndexUploadRequest};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let data_dir = tempfile::tempdir()?;
    let service = EmbeddedServer::bind(EmbeddedServerConfig::new(data_dir.path())).await?;
    let key = service.create_key("default", "example").await?;
    let client = Client::builder(service.url().parse()?).key(key).build()?;
    println!("serving at {}", service.url());

    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(service.run(async {
        // The service stops when the sender is dropped.
        let _ = stopped.await;
    }));

    index(&client).await?;
    let response = client.search("run awaitables together").send().await?;
    for result in response.data.web.unwrap_or_default() {
        println!("found {} {}: {}", result.url, result.title, result.description);
    }

    drop(stop);
    let report = serving.await??;
    println!("stopped, {} connections aborted", report.aborted);
    Ok(())
}

/// Adds a document and waits until it is searchable.
async fn index(client: &Client) -> Result<(), Box<dyn Error>> {
    let document = IndexDocument {
        url: "https://docs.example/asyncio".to_owned(),
        title: "asyncio".to_owned(),
        body: "gather runs awaitables together and returns their results in order.".to_owned(),
        ..IndexDocument::default()
    };
    client.add_documents(&IndexUploadRequest { documents: vec![document] }).await?;
    while client.index_stats().await?.documents == 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
