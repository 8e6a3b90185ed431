"""Checks for documented rules that a schema cannot express. They replace two general checks of schemathesis.

`schemathesis.toml` turns the general checks off for the operations named here, and for no others.
"""

import re

import schemathesis
from resources import DOCUMENT, HAS_MODEL, SITE_PAGE, dead_letter, email_tokens, start, start_interaction, start_run

# Violations that are possible in the options of a page even though the options match the schema: the path in the
# options and the code, as regular expressions.
PAGE = [
    # Support depends on the installation, for example on a browser or a model.
    (r"/(actions|parsers|profile|redactPII)(/.+)?", "not_supported"),
    (r"/threatProtection/(blacklist|whitelist|blockedTlds)/\d+", "invalid_format"),
    # A selector must follow the CSS grammar.
    (r"/(include|exclude)Tags/\d+", "invalid_format"),
    (r"/actions/\d+/selector", "invalid_format"),
    (r"/formats/\d+/selectors/\d+/selector", "invalid_format"),
    # A schema must be a JSON Schema without external references.
    (r"/formats/\d+/schema(/.*)?", r".+"),
    # Headers of the connection cannot be set, and the total length of headers is limited.
    (r"/headers/.+", "not_supported"),
    (r"/headers", "too_long"),
    # The sum of all waits is limited.
    (r"/(actions|waitFor)", "too_big"),
    # Formats, parsers and headers must be unique, and onlyCleanContent excludes zero data retention.
    (r"/((formats|parsers|headers)/.+|onlyCleanContent)", "conflict"),
]

# Bodies of version 1 have the schema of version 2, in which a format never requires options outside itself.
FIRST_VERSION = [(r"/formats/\d+", "missing")]

# URLs must be valid by the URL standard.
URL = [(r"/url", "invalid_format")]

# Options that jobs reject.
JOB = [
    (r"(/scrapeOptions)?/lockdown|/prompt", "not_supported"),
    # A webhook needs an allowed URL, events of this kind of job, and headers that the service does not set itself.
    (r"/webhook(/url)?", "invalid_format|not_supported"),
    (r"/webhook/events/\d+", "unknown_value"),
    (r"/webhook/headers/.+", "not_supported|conflict"),
    (r"/webhook/(headers|metadata)", "too_long"),
    # URLs appended to a batch cannot change its webhook.
    (r"/webhook", "conflict"),
]


def below(prefix, rules):
    """Returns the rules with a prefix before each path."""
    return [(prefix + path, code) for path, code in rules]


SEARCH = [
    # The parts of a time filter must be compatible, and its dates must exist.
    (r"(/sources/\d+)?/tbs", "invalid_format"),
    # Domains must be valid by IDNA.
    (r"/(include|exclude)Domains/\d+", "invalid_format"),
    (r"/threatProtection/(blacklist|whitelist|blockedTlds)/\d+", "invalid_format"),
    (r"/sources/\d+", "conflict"),
    *below("/scrapeOptions", PAGE),
]

# Path patterns must be valid regular expressions.
PATHS = [(r"/(include|exclude)Paths/\d+", "invalid_format")]

CRAWL = [
    *URL,
    *PATHS,
    *JOB,
    *below("/scrapeOptions", PAGE),
    (r"/delay", "too_big"),
]

BATCH = [*PAGE, *JOB, (r"/urls(/\d+)?", "invalid_format"), (r"/urls/\d+", "too_short")]

FEEDBACK = [
    *URL,
    (r"/valuableSources/\d+/url", "invalid_format|too_short"),
    (r"/(valuableSources|missingContent|note)", "missing"),
    (r"/metadata", "too_long"),
]

# A schema must be a JSON Schema without external references, and URLs or a prompt are required.
EXTRACT = [
    (r"/schema(/.*)?", r".+"),
    (r"/urls", "missing|invalid_format"),
    (r"/urls/\d+", "invalid_format|too_short|too_long"),
    (r"/agent/model", "not_supported"),
    (r"/threatProtection/(blacklist|whitelist|blockedTlds)/\d+", "invalid_format"),
    (r"/webhook(/url)?", "invalid_format|not_supported"),
    (r"/webhook/headers/.+", "not_supported|conflict"),
    (r"/webhook/(headers|metadata)", "too_long"),
    (r"/webhook/events/\d+", "unknown_value"),
    *below("/scrapeOptions", PAGE),
    (r"/scrapeOptions/lockdown", "not_supported"),
    # Features that need a browser.
    (r"/(actions|profile|mobile|waitFor)(/.*)?", r".+"),
]

# A goal is required for searches, domains must be valid by IDNA, and a webhook needs an allowed URL and headers that the
# service does not set itself.
MONITOR = [
    (r"/goal", "missing"),
    (r"/targets/\d+/scrapeOptions/lockdown", "not_supported"),
    (r"/targets/\d+/(url|(urls|queries|includeDomains|excludeDomains)/\d+)", "invalid_format|too_short"),
    *below(r"/targets/\d+/(scrapeOptions|crawlOptions)", PAGE + PATHS),
    # A schedule has either cron or text, also if one of them is empty, and no check more often than allowed.
    (r"/schedule(/.+)?", "invalid_format"),
    (r"/schedule", "missing|too_small"),
    (r"/schedule/text", "conflict"),
    (r"/schedule/(cron|text|timezone)", "too_short"),
    (r"/notification(/.+)?", "invalid_format|not_supported"),
    (r"/webhook(/url)?", "invalid_format|not_supported"),
    (r"/webhook/headers/.+", "not_supported|conflict"),
    (r"/webhook/(headers|metadata)", "too_long"),
]

# Operations that need a model.
MODEL = {"startAgent", "startExtract", "startExtractV1"}

# The rules that a body can violate even though it matches the schema, by operation. The tests of websvc-validate that
# compare the schema with the validator have the same list for searches.
BEYOND_THE_SCHEMA = {
    "searchAndScrape": SEARCH,
    "searchV1": SEARCH + below("/scrapeOptions", FIRST_VERSION),
    "searchExternal": [],
    "loadExternal": [],
    "scrape": PAGE + URL,
    "scrapeV1": PAGE + FIRST_VERSION + URL,
    # Options that only apply to web pages are rejected. The generated file never has a supported type.
    "parse": PAGE + [(r"/[a-zA-Z]+", "not_supported"), (r"/(file|uploadRef)", r".+")],
    "mapUrls": URL + PATHS + PAGE,
    "mapUrlsV1": URL + PATHS + PAGE,
    "startCrawl": CRAWL,
    "startCrawlV1": CRAWL + below("/scrapeOptions", FIRST_VERSION),
    "startBatch": BATCH,
    "startBatchV1": BATCH + FIRST_VERSION,
    # Without a model, only a few prompts are supported.
    "previewCrawlParams": URL + [(r"/prompt", "not_supported")],
    # A rating needs content, and URLs must be valid by the URL standard.
    "searchFeedback": FEEDBACK,
    "feedback": FEEDBACK,
    "startLlmsTxt": URL,
    "addDocuments": [
        # URLs must be valid by the URL standard.
        (r"/documents/\d+/url", "invalid_format"),
    ],
    # One of both is required.
    "interact": [(r"/code", "missing")],
    "executeBrowser": [],
    "executeBrowserAlias": [],
    # A schema must be a JSON Schema without external references, and strict runs need URLs.
    "startAgent": [
        (r"/schema(/.*)?", r".+"),
        (r"/urls", "missing"),
        (r"/urls/\d+", "invalid_format|too_short|too_long"),
        (r"/threadId", "invalid_format"),
        (r"/zeroDataRetention", "not_supported"),
        (r"/threatProtection/(blacklist|whitelist|blockedTlds)/\d+", "invalid_format"),
        (r"/webhook(/url)?", "invalid_format|not_supported"),
        (r"/webhook/headers/.+", "not_supported|conflict"),
        (r"/webhook/(headers|metadata)", "too_long"),
        (r"/(location|auditMetadata)/.+", "invalid_format|too_short"),
    ],
    "createMonitor": MONITOR,
    # A change must have a field. Null counts as absent, except for the goal and the webhook, which it removes.
    "updateMonitor": [*MONITOR, (r"", "too_short")],
    "startExtract": EXTRACT,
    "startExtractV1": EXTRACT + below("/scrapeOptions", FIRST_VERSION),
}

# Error statuses that a valid request may get.
ALLOWED_ERRORS = {401, 403, 404, 409, 429, 503}

# Operations that run code, and the errors of sessions: it has ended, or a language or a model is not available.
CODE = {"interact", "executeBrowser", "executeBrowserAlias"}
SESSION_ERRORS = {410, 501}

# Operations on pages. A page that cannot be fetched is a valid response, not a failure of the service.
PAGES = {"scrape", "scrapeV1", "mapUrls", "mapUrlsV1", "parse"}


@schemathesis.check
def valid_data_violates_only_documented_rules(ctx, response, case):
    """Replaces `positive_data_acceptance`: a 400 must name rules that a schema cannot express."""
    operation = operation_id(case)
    rules = BEYOND_THE_SCHEMA.get(operation)
    if rules is None or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if response.status_code == 400:
        for violation in response.json().get("details", []):
            path, code = violation["path"], violation["code"]
            if re.fullmatch(r"\d+ further violations are not listed", violation["message"]) and (path, code) == ("", "too_long"):
                # No rule of its own: the last entry of a list of violations that was cut.
                continue
            is_documented = any(
                re.fullmatch(path_pattern, path) and re.fullmatch(code_pattern, code)
                for path_pattern, code_pattern in rules
            )
            assert is_documented, (
                f"the schema allows a value that is rejected with {code} at {path}: {violation['message']}"
            )
    elif operation not in PAGES:
        allowed = ALLOWED_ERRORS | SESSION_ERRORS if operation in CODE | MODEL else ALLOWED_ERRORS
        assert response.status_code < 400 or response.status_code in allowed, (
            f"the schema allows a request that fails with status {response.status_code}"
        )


@schemathesis.check
def page_errors_have_page_error_codes(ctx, response, case):
    """Replaces `not_a_server_error`: errors of a remote host have their own codes and do not count as server errors."""
    if operation_id(case) not in PAGES or response.status_code < 500:
        return
    code = response.json().get("code", "")
    assert re.fullmatch(r"(SCRAPE|MAP|PARSE)_[A-Z_]+", code), f"server error {response.status_code}: {code}"


@schemathesis.check
def code_is_not_run_only_for_documented_reasons(ctx, response, case):
    """Replaces `not_a_server_error`: code may be in a language, and a prompt may need a model, that is not available."""
    if operation_id(case) not in CODE or response.status_code < 500:
        return
    code = response.json().get("code", "")
    reasons = {"INTERACT_LANGUAGE_UNAVAILABLE", "LLM_NOT_CONFIGURED"}
    assert response.status_code == 501 and code in reasons, f"server error {response.status_code}: {code}"


@schemathesis.check
def run_does_not_start_only_without_a_model(ctx, response, case):
    """Replaces `not_a_server_error`: agent runs and extractions need a model, which a service may not have."""
    if operation_id(case) not in MODEL or response.status_code < 500:
        return
    code = response.json().get("code", "")
    assert not HAS_MODEL, f"server error {response.status_code}: {code}"
    assert (response.status_code, code) == (501, "LLM_NOT_CONFIGURED"), f"server error {response.status_code}: {code}"


@schemathesis.check
def search_is_unavailable_only_for_missing_sources(ctx, response, case):
    """Replaces `not_a_server_error`: the embedded index has web pages, so a search for web pages must succeed."""
    if operation_id(case) != "searchAndScrape" or response.status_code < 500:
        return
    assert response.status_code == 503, f"server error {response.status_code}"
    sources = case.body.get("sources") or ["web"]
    kinds = {source if isinstance(source, str) else source["type"] for source in sources}
    assert "web" not in kinds, "a search for web pages failed with status 503"


@schemathesis.check
class EveryOperationSucceeds:
    """Every operation must succeed at least once. Otherwise the other checks would only have seen rejections."""

    def __init__(self):
        self.called, self.succeeded = set(), set()

    def after_response(self, ctx, response, case):
        self.called.add(case.operation.label)
        if response.status_code == 200:
            self.succeeded.add(case.operation.label)

    def after_run(self, ctx):
        # Without a model, there are no agent runs and no extractions.
        runs = {name for name in self.called if "/v2/agent" in name and name != "GET /v2/agent"}
        runs |= {name for name in self.called if "/extract" in name}
        runs = set() if HAS_MODEL else runs
        # The key is no admin key: generated settings of the team would change the results of all other operations.
        settings = {name for name in self.called if name.endswith(("/team/siem", "/team/threat-protection"))}
        missing = sorted(self.called - self.succeeded - runs - settings)
        assert not missing, f"never returned 200: {', '.join(missing)}"


@schemathesis.hook
def before_call(ctx, case, kwargs):
    if case.meta is not None and case.meta.generation.mode.is_negative:
        case.body = without_empty_objects(case.body)
    tokens = email_tokens(case)
    if is_valid_request(case) and (link := re.fullmatch(r"/v2/monitor/email/(\w+)", case.operation.path)):
        (case.query if case.method == "GET" else case.body)["token"] = tokens[link[1]]
    if operation_id(case) in {"mapUrls", "mapUrlsV1"} and isinstance(case.body, dict) and case.body.get("delay"):
        # A short timeout, because the generated delays between requests can be a minute long.
        case.body.setdefault("timeout", 2000)
    if operation_id(case) in PAGES and isinstance(case.body, dict) and case.body.get("actions") and is_positive(case):
        # A short timeout, because generated actions wait for elements that never appear.
        case.body["timeout"] = 2000
    if operation_id(case) in PAGES - {"parse"} and isinstance(case.body, dict) and is_positive(case):
        # Generated URLs do not lead to a page.
        if re.match(r"https?://", str(case.body.get("url", ""))):
            case.body["url"] = SITE_PAGE
        # Generated waits can be too long.
        if isinstance(case.body.get("waitFor"), (int, float)):
            case.body["waitFor"] = min(case.body["waitFor"], 100)
    is_form = isinstance(case.body, dict) and "uploadRef" not in case.body
    if operation_id(case) == "parse" and is_form and is_valid_request(case):
        # Generated bytes are never a document.
        case.body["file"] = DOCUMENT
    if operation_id(case) == "feedback" and isinstance(case.body, dict) and is_valid_request(case):
        case.body["endpoint"], case.body["jobId"] = "search", start(case, "/v2/search")
    if operation_id(case) == "searchFeedback" and is_valid_request(case):
        case.path_parameters["id"] = start(case, "/v2/search")
    if operation_id(case) in {"createBrowser", "createBrowserAlias"} and isinstance(case.body, dict) and is_positive(case):
        # Few sessions are active at a time, so each must end soon.
        case.body.update(ttl=30, activityTtl=10)
    if is_valid_request(case) and re.match(r".*/scrape/{id}/interact", case.operation.path):
        case.path_parameters["id"] = start_interaction(case)[0]
    elif is_valid_request(case) and operation_id(case) in {"executeBrowser", "executeBrowserAlias"}:
        case.path_parameters["id"] = start_interaction(case)[1]
    elif is_valid_request(case) and re.match(r".*/dead-letters/{id}", case.operation.path):
        case.path_parameters["id"] = dead_letter(case)
    elif is_valid_request(case) and re.match(r".*/(crawl|scrape|llmstxt)/{id}", case.operation.path):
        case.path_parameters["id"] = start(case)
    elif is_valid_request(case) and HAS_MODEL and re.match(r".*/(agent|extract)/.*{id}", case.operation.path):
        run = start_run(case)
        case.path_parameters["id"] = run["threadId" if "/threads/" in case.operation.path else "id"]
        if "snapshotId" in case.path_parameters:
            case.path_parameters["snapshotId"] = run["snapshotId"]


def without_empty_objects(value):
    """Replaces empty objects, which count as absent where a list is expected: some clients send them."""
    if isinstance(value, dict):
        return {name: without_empty_objects(item) for name, item in value.items()} if value else 0
    return [without_empty_objects(item) for item in value] if isinstance(value, list) else value


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def is_valid_request(case):
    return is_positive(case) and case.meta.phase.name == "fuzzing"


def operation_id(case):
    return case.operation.definition.raw.get("operationId")
