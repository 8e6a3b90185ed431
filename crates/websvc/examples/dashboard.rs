//! A search, exactly as the playground of the dashboard shows it in Rust.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use websvc::{Client, types::SearchRequest};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = std::env::var("WEBSVC_API_KEY")?;
    let client = Client::builder("http://127.0.0.1:3002".parse()?).key(key).build()?;
    let request: SearchRequest = serde_json::from_str(
        r#"{
          "query": "brewing"
        }"#,
    )?;
    let response = client.execute_search(&request).await?;
    println!("{:#?}", response.data);
    Ok(())
}
