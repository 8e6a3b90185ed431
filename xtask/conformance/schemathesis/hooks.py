"""What the service announces and no schema can say, as checks that stand in for two general ones.

`schemathesis.toml` turns those off for the operations named here, and for no others.
"""

import re

import schemathesis

# The rules that a body can break though it has the form of the schema, by operation: where, and which rule. Those of a
# search are the ones that the tests of websvc-validate name too, where the schema and the validator are compared.
BEYOND_THE_SCHEMA = {
    "searchAndScrape": [
        # Depends on what the installation has: a browser, a model.
        (r"/scrapeOptions/(actions|parsers|profile|redactPII)(/.+)?", "not_supported"),
        # The items of a time filter go together, and its days exist.
        (r"(/sources/\d+)?/tbs", "invalid_format"),
        # Hostnames are those of IDNA.
        (r"/(include|exclude)Domains/\d+", "invalid_format"),
        (r"(/scrapeOptions)?/threatProtection/(blacklist|whitelist|blockedTlds)/\d+", "invalid_format"),
        # Selectors keep to the grammar of CSS.
        (r"/scrapeOptions/(include|exclude)Tags/\d+", "invalid_format"),
        (r"/scrapeOptions/actions/\d+/selector", "invalid_format"),
        # A schema is a JSON Schema, and refers only to itself.
        (r"/scrapeOptions/formats/\d+/schema(/.*)?", r".+"),
        # Some headers belong to the connection, and all of them have a length.
        (r"/scrapeOptions/headers/.+", "not_supported"),
        (r"/scrapeOptions/headers", "too_long"),
        # All waits have a sum.
        (r"/scrapeOptions/actions", "too_big"),
        # A source, a format, a parser and a header are given once; no model cleans what nobody may keep.
        (r"/sources/\d+|/scrapeOptions/((formats|parsers|headers)/.+|onlyCleanContent)", "conflict"),
    ],
    "addDocuments": [
        # URLs by the rules that browsers have.
        (r"/documents/\d+/url", "invalid_format"),
    ],
}


@schemathesis.check
def valid_data_is_refused_by_named_rules_only(ctx, response, case):
    """In place of `positive_data_acceptance`: a 400 has to name rules that no schema can say."""
    rules = BEYOND_THE_SCHEMA.get(operation_id(case))
    if rules is None or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if response.status_code == 400:
        for violation in response.json()["details"]:
            path, code = violation["path"], violation["code"]
            assert any(re.fullmatch(where, path) and re.fullmatch(rule, code) for where, rule in rules), (
                f"the schema allows what is refused by {code} at {path}: {violation['message']}"
            )
    else:
        allowed = {401, 403, 404, 429, 503}
        assert response.status_code < 400 or response.status_code in allowed, (
            f"the schema allows what is answered by {response.status_code}"
        )


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
        missing = sorted(self.asked - self.succeeded)
        assert not missing, f"never answered by 200: {', '.join(missing)}"


def operation_id(case):
    return case.operation.definition.raw.get("operationId")
