"""A stand-in for a language model: an OpenAI-compatible endpoint on loopback whose answers follow from the request alone.

Its decisions and values come from the texts that the service sends, by the format in `crates/websvc-agent/src/prompt.rs`.
A message begins with the content between delimiters. The instructions and the task follow it.
It prints its port as the first line. A task that begins with "wait" gets no answer.
"""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "conformance"

# A row such as `| Sencha | 4 |` in a passage or in the Markdown of a page.
ROW = re.compile(r"\|\s*([A-Z]\w+)\s*\|\s*(\d+)\s*\|")
# The first heading of a page, alone in its line or at the beginning of a passage.
HEADING = re.compile(r"^(?:\[p\d+\.\d+\] )?# (.+)$", re.MULTILINE)
# The content of a message, and what follows it.
MESSAGE = re.compile(r"\A<(web-content[-0-9]*)>\n(.*?)\n</\1>\n\n(.*)\Z", re.DOTALL)
LINK = re.compile(r'link "([^"]+)".*\[ref=(e\d+)\]')


def section(text, name):
    """Returns the lines of a section that begins with `## NAME`, up to the next section."""
    found = re.search(rf"^## {name}\n(.*?)(?=^## |^</?web-content|\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group(1).strip().splitlines() if found else []


def decision(action, reference="", text=""):
    return {"why": f"{action} is next.", "action": action, "ref": reference, "text": text}


def decide(text):
    """Returns the next step of a run: search, open the first result, collect each page, end."""
    pages = [line.split(" ", 1)[0] for line in section(text, "Pages")]
    steps = [line.split(". ", 1)[-1] for line in section(text, "Steps")]
    results = section(text, "Results")
    for page in pages:
        if not any(step.startswith(f"collect {page}") for step in steps):
            return decision("collect", page)
    if pages:
        return decision("done")
    if results:
        return decision("open", results[0].split(" ", 1)[0])
    if any(step.startswith("search") for step in steps):
        return decision("impossible", text="The search has no results.")
    return decision("search", text=section(text, "Task")[0])


def values(content, properties):
    """Returns the values for the fields of a schema that a draft or the passages of a content state. Without fields, all."""
    found = {"teas": [{"name": name} for name in HEADING.findall(content)]}
    if row := ROW.search(content):
        found |= {"leaf": row.group(1), "grams": int(row.group(2))}
    if draft := section(content, "Draft"):
        try:
            found |= {name: value for name, value in json.loads(draft[0]).items() if value is not None}
        except ValueError:
            pass  # A long draft is cut, or there are no data yet.
    if not properties:
        return found
    nothing = {name: [] if "items" in field else None for name, field in properties.items() if field.get("type") != "string"}
    return nothing | {name: value for name, value in found.items() if name in properties}


def act(content, task):
    """Returns the next action on a page in a browser: a click on the link that the task names, then the title as the answer."""
    outline = content.partition("\nOutline")[2]
    for name, reference in LINK.findall(outline):
        if name in task and "Earlier steps:" not in content:
            return {"why": "It is the link.", "note": "", "action": "click", "ref": reference, "text": ""}
    title = re.search(r"^Title: (.*)$", content, re.MULTILINE)
    return {"why": "The page is open.", "note": "", "action": "done", "ref": "", "text": title.group(1) if title else ""}


def describe_brand():
    """Returns a choice of the first button and no other candidate, with a character of the page."""
    candidates = dict.fromkeys(("secondaryButton", "logo", "primaryColor", "secondaryColor", "accentColor", "componentLibrary"))
    character = {"tone": "minimalist", "energy": "low", "targetAudience": "Tea drinkers", "framework": "unknown"}
    confidence = {"buttons": 0.9, "colors": 0.5, "overall": 0.7}
    return candidates | character | {"primaryButton": 0, "confidence": confidence}


def answer(body):
    """Returns the answer to a request as a text; `None` if it should never come."""
    text = "\n\n".join(message["content"] for message in body["messages"] if message["role"] == "user")
    response_format = body.get("response_format")
    schema = (response_format or {}).get("json_schema", {}).get("schema", {})
    properties = schema.get("properties") or {}
    message = MESSAGE.match(text)
    content, instructions = message.group(2, 3) if message else ("", text)
    if (section(instructions, "Task") or [""])[0].startswith("wait"):
        return None
    if section(instructions, "Step"):
        return json.dumps(decide(text))
    if task := re.search(r"^Task: (.*)$", instructions, re.MULTILINE):
        return json.dumps(act(content, task.group(1)))
    if "primaryButton" in properties:
        return json.dumps(describe_brand())
    if response_format:
        return json.dumps(values(content, properties))
    return "Tea is brewed with hot water."


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def respond(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/v1/models":
            self.respond(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        else:
            self.respond(404, {"error": {"message": f"no such path: {self.path}"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions" or body.get("model") != MODEL:
            self.respond(404, {"error": {"message": f"no such model or path: {self.path}"}})
            return
        content = answer(body)
        if content is None:
            # Returns when the service closes the connection.
            self.rfile.read(1)
            self.close_connection = True
            return
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        self.respond(200, {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print("listening on port", server.server_address[1], flush=True)
server.serve_forever()
