//! Runs the official Python SDK and the document loaders that use it against extractions.

use super::ExtractTest;
use crate::sdk::{check, check_with};

/// A script with an extraction of each version, and errors.
const SCRIPT: &str = r##"
import sys, warnings
from typing import Optional
from firecrawl import Firecrawl
from firecrawl.v1.client import V1FirecrawlApp
from firecrawl.v2.utils.error_handler import FirecrawlError
from pydantic import BaseModel

warnings.simplefilter("ignore")

class Drink(BaseModel):
    name: str
    euros: Optional[int]

class Drinks(BaseModel):
    shop: Optional[str]
    drinks: list[Drink]

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
urls = ["http://shop.test/tea", "http://shop.test/coffee"]
done = app.extract(urls, prompt="The drinks", schema=Drinks.model_json_schema(), system_prompt="Be exact.",
                   show_sources=True, poll_interval=1)
print(done.success, done.status, done.data["shop"], [drink["name"] for drink in done.data["drinks"]])
print(done.credits_used, done.tokens_used > 0, sorted(done.sources), done.replacement, len(done.warnings))
print(done.expires_at is not None)
started = app.start_extract(urls, prompt="The drinks", agent={"model": "FIRE-1"}, ignore_invalid_urls=True)
print(started.success, started.id is not None, "agent" in started.warning)
old = V1FirecrawlApp(api_key=sys.argv[2], api_url=sys.argv[1])
found = old.extract(urls, prompt="The drinks", schema=Drinks, show_sources=True)
print(found.success, found.status, found.data["shop"], sorted(found.sources), found.creditsUsed, found.replacement)
free = old.extract(urls[:1], prompt="The drinks")
print(free.data["drinks"][0]["name"], len(free.data["drinks"]))
try:
    print(app.start_extract(urls, agent={"model": "v3-beta"}))
except FirecrawlError as error:
    print(error.status_code, "/v2/agent" in str(error))
try:
    print(app.get_extract_status("0b1f8c1e-6f0f-4f0a-9a53-6f1b2c3d4e5f"))
except FirecrawlError as error:
    print(error.status_code, "Extract job not found" in str(error))
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_extracts() {
    let test = ExtractTest::new().await;
    let expected = "True completed Leaf ['sencha', 'arabica']\n\
                    10 True ['drinks[0]', 'drinks[1]', 'shop'] /v2/scrape 1\n\
                    True\n\
                    True True True\n\
                    True completed Leaf ['drinks[0]', 'drinks[1]', 'shop'] 10 /v2/scrape\n\
                    sencha 1\n\
                    400 True\n\
                    404 True\n";
    check(SCRIPT, &test.service, expected);
}

/// A script with the document loaders of LangChain and LlamaIndex in extract mode.
const LOADERS: &str = r##"
import sys, warnings

warnings.simplefilter("ignore")

from langchain_community.document_loaders import FireCrawlLoader
from langchain_firecrawl import FirecrawlLoader
from llama_index.readers.web import FireCrawlWebReader

address, key, tea = sys.argv[1], sys.argv[2], "http://shop.test/tea"
params = {"prompt": "The drinks", "show_sources": True}
loaded = FirecrawlLoader(tea, api_key=key, api_url=address, mode="extract", params=dict(params)).load()
print(len(loaded), "sencha" in loaded[0].page_content, loaded[0].metadata["sources"])
loaded = FireCrawlLoader(tea, api_key=key, api_url=address, mode="extract", params=dict(params)).load()
print(len(loaded), "status='completed'" in loaded[0].page_content, "sencha" in loaded[0].page_content)
sys.stdout, stdout = sys.stderr, sys.stdout
read = FireCrawlWebReader(api_key=key, api_url=address, mode="extract", params=dict(params)).load_data(urls=[tea])
sys.stdout = stdout
print(len(read), "status='completed'" in read[0].text, "sencha" in read[0].text)
"##;

#[tokio::test(flavor = "multi_thread")]
async fn document_loaders_extract() {
    let test = ExtractTest::new().await;
    let expected = "1 True {'drinks[0]': ['http://shop.test/tea']}\n1 True True\n1 True True\n";
    check_with("WEBSVC_TEST_LOADERS", LOADERS, &test.service, expected);
}
