"""What the requests of schemathesis need to succeed: jobs, runs, sessions and links that exist.

Generated IDs and tokens only lead to 404, so `hooks.py` replaces them by these.
"""

import email
import email.policy
import os
import pathlib
import re
import time

import requests

# True if the service has a model, the one of `model.py`.
HAS_MODEL = os.environ.get("WEBSVC_MODEL") == "1"

# The API key of the service; unset if authentication is off.
KEY = os.environ.get("WEBSVC_CONFORMANCE_KEY")

# The folder into which `mail.py` writes the messages that the service sends.
MAIL = pathlib.Path(os.environ["WEBSVC_MAIL"])

# A page of the loopback site.
SITE_PAGE = "http://tea.test/green.html"

# A file that can be parsed, as text: schemathesis takes a body with bytes for an invalid one.
DOCUMENT = (pathlib.Path(__file__).parents[1] / "site/brochure.pdf").read_bytes().decode("ascii")

# Maximum number of seconds until a run has ended or a message has arrived.
PATIENCE = 60


def send(case, method, path, body=None):
    """Sends a request to the service of a case, which must succeed. Returns the body of the response."""
    headers = {"Authorization": f"Bearer {KEY}"} if KEY else {}
    response = requests.request(method, case.operation.base_url + path, json=body, headers=headers, timeout=60)
    response.raise_for_status()
    return response.json()


def wait_for(find, what):
    """Calls `find` until it returns something, and returns that."""
    deadline = time.monotonic() + PATIENCE
    while not (found := find()):
        assert time.monotonic() < deadline, f"{what} took longer than {PATIENCE} s"
        time.sleep(0.1)
    return found


# IDs of the jobs and scrapes that were started, by the path that starts them.
started = {}


def start(case, path=None):
    """Starts a job, scrape or search for the operation and returns its ID."""
    path = path or case.operation.path.partition("/{id}")[0]
    if case.method != "DELETE" and path in started:
        return started[path]
    # The crawl is slow, so that it still runs when it is cancelled.
    page = SITE_PAGE
    crawl = {"url": page, "delay": 60, "scrapeOptions": {"maxAge": 0}}
    batch = {"urls": [f"{page}?{n}" for n in range(200)]}
    small = {"/v2/scrape": {"url": page}, "/v1/scrape": {"url": page}, "/v1/llmstxt": {"url": page}, "/v2/search": {"query": "tea"}}
    result = send(case, "POST", path, small.get(path, batch if "batch" in path else crawl))
    started[path] = result["id"] if "id" in result else result["data"]["metadata"]["scrapeId"]
    return started[path]


# The agent runs and extractions that have ended, by the path that starts them.
runs = {}


def start_run(case):
    """Returns an agent run or extraction. It has ended, unless it is to be cancelled."""
    path = re.match(r"/v\d/(agent|extract)", case.operation.path)[0]
    is_cancelled = case.method == "DELETE"
    if not is_cancelled and path in runs:
        return runs[path]
    prompt = "wait" if is_cancelled else "How much sencha?"
    run = send(case, "POST", path, {"urls": [SITE_PAGE], "prompt": prompt})
    if is_cancelled:
        return run
    address = f"{path}/{run['id']}"
    wait_for(lambda: send(case, "GET", address)["status"] != "processing", f"the run {address}")
    if path == "/v2/agent":
        events = send(case, "GET", f"{address}/trace")["events"]
        run["snapshotId"] = next(event["artifact"]["snapshotId"] for event in events if event["type"] == "artifact.updated")
    runs[path] = run
    return run


# IDs of the scrape whose session runs the generated code, and of that session; empty if the session was ended.
interaction = []


def start_interaction(case):
    """Opens the session of a scrape and returns the IDs of both."""
    if case.method != "DELETE" and interaction:
        return interaction
    # Those of other generated requests.
    for session in send(case, "GET", "/v2/browser?status=active")["sessions"]:
        send(case, "DELETE", f"/v2/browser/{session['id']}")
    interaction.clear()
    scrape = send(case, "POST", "/v2/scrape", {"url": SITE_PAGE})["data"]["metadata"]["scrapeId"]
    ids = [scrape, send(case, "POST", f"/v2/scrape/{scrape}/interact", {"code": "1"})["sessionId"]]
    if case.method != "DELETE":
        interaction.extend(ids)
    return ids


def dead_letter(case):
    """Returns the ID of a webhook event that could not be delivered, because the site refuses it."""

    def first():
        letters = send(case, "GET", "/v2/webhooks/dead-letters?limit=1")["deadLetters"]
        return letters[0]["id"] if letters else None

    if found := first():
        return found
    send(case, "POST", "/v2/batch/scrape", {"urls": [SITE_PAGE], "webhook": "http://lamp.test/hook"})
    return wait_for(first, "a dead letter")


# The address that the monitor sends its emails to. Generated monitors have other ones.
RECIPIENT = "conformance@lamp.test"

# The tokens of the links in the emails to the recipient, by the last part of the path of the link.
tokens = {}


def email_tokens(case):
    """Creates a monitor whose recipient confirms the address and gets an email. Returns the tokens of the links.

    Must be called before generated monitors ask for so many confirmations that their limit is reached.
    """
    if not tokens:
        # Set before anything can fail, so that a failure is reported once and not for every further request.
        tokens.update(confirm="", unsubscribe="")
        page = {"type": "scrape", "urls": [SITE_PAGE]}
        recipients = {"email": {"enabled": True, "recipients": [RECIPIENT]}}
        body = {"name": "Emails", "schedule": {"text": "daily"}, "targets": [page], "notification": recipients}
        monitor = send(case, "POST", "/v2/monitor", body)["data"]["id"]
        confirm = wait_for(lambda: find_token("confirm"), "the email that asks for the confirmation")
        send(case, "POST", "/v2/monitor/email/confirm", {"token": confirm})
        # The first check finds a new page, and reports it.
        send(case, "POST", f"/v2/monitor/{monitor}/run")
        unsubscribe = wait_for(lambda: find_token("unsubscribe"), "the email about the first check")
        tokens.update(confirm=confirm, unsubscribe=unsubscribe)
    return tokens


def find_token(action):
    """Returns the token of a link in an email to the recipient; `None` if there is no such email."""
    for file in MAIL.glob("*.eml"):
        message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        link = rf"/v2/monitor/email/{action}\?token=(\w+)"
        found = re.search(link, message.get_body(("plain",)).get_content())
        if message["To"].addresses[0].addr_spec == RECIPIENT and found:
            return found.group(1)
    return None
