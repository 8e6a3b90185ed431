// The request that was made, in the languages that people use.

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Writes JSON as Python has it. */
function python(value, depth = 1) {
  const pad = "    ".repeat(depth);
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Array.isArray(value) ? value.map((item) => python(item, depth + 1)) : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${python(item, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (!items.length) return open + close;
  return `${open}\n${items.map((item) => `${pad}    ${item},\n`).join("")}${pad}${close}`;
}

/** Returns a raw string of Rust; the text may have anything in it. */
function raw(text) {
  const longest = Math.max(0, ...[...text.matchAll(/"(#*)/g)].map(([, hashes]) => hashes.length + 1));
  return `r${"#".repeat(longest)}"${text}"${"#".repeat(longest)}`;
}

/** Returns the request in each language, by its name. Where nobody is asked for a key, none is sent. */
export function snippets(request, base, keyed = true) {
  const body = JSON.stringify(request, null, 2);
  const only = (text) => (keyed ? text : "");
  return {
    curl: `curl ${base}/v2/search \\\n${only('  -H "Authorization: Bearer $WEBSVC_API_KEY" \\\n')}  -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}\n`,
    Python: `import json\n${only("import os\n")}import urllib.request\n\nrequest = urllib.request.Request(\n    ${JSON.stringify(`${base}/v2/search`)},\n    data=json.dumps(\n        ${python(request, 2)}\n    ).encode(),\n    headers={\n${only(`        "Authorization": f"Bearer {os.environ['WEBSVC_API_KEY']}",\n`)}        "Content-Type": "application/json",\n    },\n)\nwith urllib.request.urlopen(request) as response:\n    print(json.load(response)["data"])\n`,
    JavaScript: `const response = await fetch(${JSON.stringify(`${base}/v2/search`)}, {\n  method: "POST",\n  headers: {\n${only('    "Authorization": `Bearer ${process.env.WEBSVC_API_KEY}`,\n')}    "Content-Type": "application/json",\n  },\n  body: JSON.stringify(${body.replaceAll("\n", "\n  ")}),\n});\nconst { data } = await response.json();\nconsole.log(data);\n`,
    Rust: `use websvc::{Client, types::SearchRequest};\n\n#[tokio::main]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {\n${only('    let key = std::env::var("WEBSVC_API_KEY")?;\n')}    let client = Client::builder(${JSON.stringify(base)}.parse()?)${only(".key(key)")}.build()?;\n    let request: SearchRequest = serde_json::from_str(\n        ${raw(body.replaceAll("\n", "\n        "))},\n    )?;\n    let response = client.execute_search(&request).await?;\n    println!("{:#?}", response.data);\n    Ok(())\n}\n`,
  };
}
