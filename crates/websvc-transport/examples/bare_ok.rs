//! The smallest server of this crate: measured against `plain_hyper`.

#![expect(clippy::print_stdout, reason = "the measurement script reads the address")]

use http::Response;
use websvc_transport::{Body, Server, ServerConfig};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listen = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let server = Server::bind(ServerConfig::new(listen)).await?;
    println!("http://{}", server.local_addr());
    server.run(|_| async { Response::new(Body::from("OK")) }, std::future::pending()).await?;
    Ok(())
}
