"""What the service announces and no schema can say, as checks that stand in for two general ones.

`schemathesis.toml` turns those off for the operations named here, and for no others.
"""

import os
import re

import requests
import schemathesis

# What speaks against options of a page though they have the form of the schema: where, and by which rule. The paths are
# those of the options.
PAGE = [
    # Depends on what the installation has: a browser, a model.
    (r"/(actions|parsers|profile|redactPII)(/.+)?", "not_supported"),
    (r"/threatProtection/(blacklist|whitelist|blockedTlds)/\d+", "invalid_format"),
    # Selectors keep to the grammar of CSS.
    (r"/(include|exclude)Tags/\d+", "invalid_format"),
    (r"/actions/\d+/selector", "invalid_format"),
    # A schema is a JSON Schema, and refers only to itself.
    (r"/formats/\d+/schema(/.*)?", r".+"),
    # Some headers belong to the connection, and all of them have a length.
    (r"/headers/.+", "not_supported"),
    (r"/headers", "too_long"),
    # All waits have a sum.
    (r"/(actions|waitFor)", "too_big"),
    # A format, a parser and a header are given once; no model cleans what nobody may keep.
    (r"/((formats|parsers|headers)/.+|onlyCleanContent)", "conflict"),
]

# The schema of a body of version 1 is that of version 2, where no format needs options beside it.
FIRST_VERSION = [(r"/formats/\d+", "missing")]

# Addresses are those of browsers.
ADDRESS = [(r"/url", "invalid_format")]

# What jobs and single pages do not do, and say so.
JOB = [
    (r"(/scrapeOptions)?/lockdown|/prompt", "not_supported"),
    # A webhook has an address that something may be sent to, an event of its own kind of job, headers that are not ours.
    (r"/webhook(/url)?", "invalid_format|not_supported"),
    (r"/webhook/events/\d+", "unknown_value"),
    (r"/webhook/headers/.+", "not_supported|conflict"),
    (r"/webhook/(headers|metadata)", "too_long"),
    # The events of a batch that is added to go where it said.
    (r"/webhook", "conflict"),
]


def within(path, rules):
    return [(path + where, rule) for where, rule in rules]


SEARCH = [
    # The items of a time filter go together, and its days exist.
    (r"(/sources/\d+)?/tbs", "invalid_format"),
    # Hostnames are those of IDNA.
    (r"/(include|exclude)Domains/\d+", "invalid_format"),
    (r"/threatProtection/(blacklist|whitelist|blockedTlds)/\d+", "invalid_format"),
    (r"/sources/\d+", "conflict"),
    *within("/scrapeOptions", PAGE),
]

# Patterns of paths are regular expressions.
PATHS = [(r"/(include|exclude)Paths/\d+", "invalid_format")]

CRAWL = [
    *ADDRESS,
    *PATHS,
    *JOB,
    *within("/scrapeOptions", PAGE),
    (r"/delay", "too_big"),
]

BATCH = [*PAGE, *JOB, (r"/urls(/\d+)?", "invalid_format"), (r"/urls/\d+", "too_short")]

# The rules that a body can break though it has the form of the schema, by operation. Those of a search are the ones that
# the tests of websvc-validate name too, where the schema and the validator are compared.
BEYOND_THE_SCHEMA = {
    "searchAndScrape": SEARCH,
    "searchV1": SEARCH + within("/scrapeOptions", FIRST_VERSION),
    "searchExternal": [],
    "scrape": PAGE + ADDRESS,
    "scrapeV1": PAGE + FIRST_VERSION + ADDRESS,
    # Of what is only there for pages of the web. The file that is made up here is none of a kind that is read.
    "parse": PAGE + [(r"/[a-zA-Z]+", "not_supported"), (r"/file", r".+")],
    "mapUrls": ADDRESS + PATHS + PAGE,
    "mapUrlsV1": ADDRESS + PATHS + PAGE,
    "startCrawl": CRAWL,
    "startCrawlV1": CRAWL + within("/scrapeOptions", FIRST_VERSION),
    "startBatch": BATCH,
    "startBatchV1": BATCH + FIRST_VERSION,
    # Without a model only a few words are understood.
    "previewCrawlParams": ADDRESS + [(r"/prompt", "not_supported")],
    "addDocuments": [
        # URLs by the rules that browsers have.
        (r"/documents/\d+/url", "invalid_format"),
    ],
}

# How else a right request may end.
OTHERWISE = {401, 403, 404, 409, 429, 503}

# Operations on pages: a page that cannot be had is an answer of the service, not its failure.
PAGES = {"scrape", "scrapeV1", "mapUrls", "mapUrlsV1", "parse"}


@schemathesis.check
def valid_data_is_refused_by_named_rules_only(ctx, response, case):
    """In place of `positive_data_acceptance`: a 400 has to name rules that no schema can say."""
    operation = operation_id(case)
    rules = BEYOND_THE_SCHEMA.get(operation)
    if rules is None or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if response.status_code == 400:
        for violation in response.json().get("details", []):
            path, code = violation["path"], violation["code"]
            assert any(re.fullmatch(where, path) and re.fullmatch(rule, code) for where, rule in rules), (
                f"the schema allows what is refused by {code} at {path}: {violation['message']}"
            )
    elif operation not in PAGES:
        assert response.status_code < 400 or response.status_code in OTHERWISE, (
            f"the schema allows what is answered by {response.status_code}"
        )


@schemathesis.check
def pages_fail_by_a_code_of_their_own(ctx, response, case):
    """In place of `not_a_server_error`: what a host does wrong is told by a code, and is no failure of the service."""
    if operation_id(case) not in PAGES or response.status_code < 500:
        return
    code = response.json().get("code", "")
    assert re.fullmatch(r"(SCRAPE|MAP|PARSE)_[A-Z_]+", code), f"server error {response.status_code}: {code}"


@schemathesis.check
def search_is_unavailable_only_for_sources_that_are_not_there(ctx, response, case):
    """In place of `not_a_server_error`: the embedded index has web pages, so that a search for them has to work."""
    if operation_id(case) != "searchAndScrape" or response.status_code < 500:
        return
    assert response.status_code == 503, f"server error {response.status_code}"
    sources = case.body.get("sources") or ["web"]
    kinds = {source if isinstance(source, str) else source["type"] for source in sources}
    assert "web" not in kinds, "a search for web pages is not answered"


@schemathesis.check
class EveryOperationSucceeds:
    """Without a success of each operation, the other checks would have looked at refusals only."""

    def __init__(self):
        self.asked, self.succeeded = set(), set()

    def after_response(self, ctx, response, case):
        self.asked.add(case.operation.label)
        if response.status_code == 200:
            self.succeeded.add(case.operation.label)

    def after_run(self, ctx):
        # The bytes that are made up here are no file; the clients upload files. No event dies while this runs.
        letters = {"POST /v2/webhooks/dead-letters/{id}/retry", "DELETE /v2/webhooks/dead-letters/{id}"}
        missing = sorted(self.asked - self.succeeded - {"POST /v2/parse"} - letters)
        assert not missing, f"never answered by 200: {', '.join(missing)}"


@schemathesis.hook
def before_call(ctx, case, kwargs):
    if operation_id(case) in {"mapUrls", "mapUrlsV1"} and isinstance(case.body, dict) and case.body.get("delay"):
        # Nobody waits here for the pauses of a minute that a map is asked to make.
        case.body.setdefault("timeout", 2000)
    if operation_id(case) in PAGES and isinstance(case.body, dict) and case.body.get("actions") and is_positive(case):
        # Nor for what never comes up on the page.
        case.body["timeout"] = 2000
    if operation_id(case) in {"scrape", "scrapeV1"} and isinstance(case.body, dict) and is_positive(case):
        # Addresses that are made up lead to no page.
        if re.match(r"https?://", str(case.body.get("url", ""))):
            case.body["url"] = PAGE_OF_THE_SITE
        # Nor does anybody wait here as long as a page may be waited for.
        if isinstance(case.body.get("waitFor"), int):
            case.body["waitFor"] = min(case.body["waitFor"], 100)
    if is_right(case) and re.match(r".*/(crawl|scrape)/{id}", case.operation.path):
        case.path_parameters["id"] = begin(case)


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def is_right(case):
    return is_positive(case) and case.meta.phase.name == "fuzzing"


# The key of the service, where it asks for one.
KEY = os.environ.get("WEBSVC_CONFORMANCE_KEY")

# A page of the loopback site.
PAGE_OF_THE_SITE = "http://tea.test/green.html"

# What is read, by the paths that begin it.
begun = {}


def begin(case):
    """Returns a job, or a scrape, as the operation is about: identifiers that are made up lead to 404 only."""
    path = case.operation.path.partition("/{id}")[0]
    if case.method != "DELETE" and path in begun:
        return begun[path]
    # So slow that it still runs when it is to be cancelled.
    page = PAGE_OF_THE_SITE
    crawl = {"url": page, "delay": 60, "scrapeOptions": {"maxAge": 0}}
    batch = {"urls": [f"{page}?{n}" for n in range(200)]}
    body = {"/v2/scrape": {"url": page}}.get(path, batch if "batch" in path else crawl)
    headers = {"Authorization": f"Bearer {KEY}"} if KEY else {}
    answer = requests.post(case.operation.base_url + path, json=body, headers=headers, timeout=10)
    answer.raise_for_status()
    answer = answer.json()
    begun[path] = answer["id"] if "id" in answer else answer["data"]["metadata"]["scrapeId"]
    return begun[path]


def operation_id(case):
    return case.operation.definition.raw.get("operationId")
