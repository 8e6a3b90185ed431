// Code samples of a request, in several languages.

/** Returns a string for a POSIX shell. */
const shellQuote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns a Python expression for a JSON value. */
function python(value, depth = 1) {
  const indent = "    ".repeat(depth);
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Array.isArray(value) ? value.map((item) => python(item, depth + 1)) : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${python(item, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (!items.length) return open + close;
  return `${open}\n${items.map((item) => `${indent}    ${item},\n`).join("")}${indent}${close}`;
}

/** Returns a Rust rustRawString string with enough hashes for any text. */
function rustRawString(text) {
  const hashCount = Math.max(0, ...[...text.matchAll(/"(#*)/g)].map(([, hashes]) => hashes.length + 1));
  return `r${"#".repeat(hashCount)}"${text}"${"#".repeat(hashCount)}`;
}

/** The dependencies of the Rust sample. */
const RUST_DEPENDENCIES = `// Cargo.toml, for a program next to the source tree of websvc:
// [dependencies]
// serde_json = "1"
// tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
// websvc = { path = "../websvc/crates/websvc" }

`;

/** Returns a code sample for each language, by its name. Without authentication, the samples send no key. */
export function codeSamples(request, base, isKeyRequired = true) {
  const body = JSON.stringify(request, null, 2);
  const withKey = (text) => (isKeyRequired ? text : "");
  return {
    curl: `curl ${base}/v2/search \\\n${withKey('  -H "Authorization: Bearer $WEBSVC_API_KEY" \\\n')}  -H 'Content-Type: application/json' \\\n  -d ${shellQuote(body)}\n`,
    Python: `import json\n${withKey("import os\n")}import urllib.request\n\nrequest = urllib.request.Request(\n    ${JSON.stringify(`${base}/v2/search`)},\n    data=json.dumps(\n        ${python(request, 2)}\n    ).encode(),\n    headers={\n${withKey(`        "Authorization": f"Bearer {os.environ['WEBSVC_API_KEY']}",\n`)}        "Content-Type": "application/json",\n    },\n)\nwith urllib.request.urlopen(request) as response:\n    print(json.load(response)["data"])\n`,
    JavaScript: `const response = await fetch(${JSON.stringify(`${base}/v2/search`)}, {\n  method: "POST",\n  headers: {\n${withKey('    "Authorization": `Bearer ${process.env.WEBSVC_API_KEY}`,\n')}    "Content-Type": "application/json",\n  },\n  body: JSON.stringify(${body.replaceAll("\n", "\n  ")}),\n});\nconst { data } = await response.json();\nconsole.log(data);\n`,
    Rust: `${RUST_DEPENDENCIES}use websvc::{Client, types::SearchRequest};\n\n#[tokio::main]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {\n${withKey('    let key = std::env::var("WEBSVC_API_KEY")?;\n')}    let client = Client::builder(${JSON.stringify(base)}.parse()?)${withKey(".key(key)")}.build()?;\n    let request: SearchRequest = serde_json::from_str(\n        ${rustRawString(body.replaceAll("\n", "\n        "))},\n    )?;\n    let response = client.execute_search(&request).await?;\n    println!("{:#?}", response.data);\n    Ok(())\n}\n`,
  };
}
