//! Sections 5 and 7: authentication and errors.

use serde_json::json;
use websvc_types::ViolationCode::*;

use crate::conformance::row::{Row, body, row, search};

pub(super) fn authentication() -> Vec<Row> {
    vec![
        row(
            "5 bearer key",
            "Authorization: Bearer KEY on every request, otherwise 401 with WWW-Authenticate",
        )
        .tested("websvc-cli", "missing_and_wrong_api_keys_are_rejected")
        .tested("websvc-server", "key_is_read_from_either_header")
        .tested("websvc-server", "header_without_a_bearer_key_counts_as_missing")
        .tested("websvc-server", "only_these_paths_are_public")
        .tested("websvc-server", "every_route_except_public_ones_requires_a_key"),
        row(
            "5 open mode",
            "without authentication, every form of the header that clients send is accepted (not specified)",
        )
        .tested("websvc-cli", "disabled_authentication_is_rejected_beyond_loopback"),
        row("5 getting a key", "keys are created, listed and revoked")
            .tested("websvc-cli", "keys_are_created_listed_and_revoked_while_the_server_runs")
            .tested("websvc-cli", "first_start_prints_a_key_once")
            .tested("websvc-cli", "created_key_is_shown_once_works_and_is_revoked"),
    ]
}

pub(super) fn errors() -> Vec<Row> {
    vec![
        row("7 200", "a successful search: section 2.6")
            .tested("websvc-types", "search_response_round_trips"),
        row("7 403", "threatProtection if it is not enabled for the team, or overrides are disabled")
            .at(search("threatProtection"))
            .forbidden(json!({}))
            .tested("websvc-validate", "threat_protection_requires_the_permission")
            .tested("websvc-cli", "options_that_may_not_be_ignored_are_rejected"),
        row("7 404 SCRAPE_NO_CACHED_DATA", "minAge, and the cache has no page of that age")
            .tested("websvc-scrape", "min_age_never_fetches")
            .tested("websvc-cli", "min_age_and_lockdown_use_only_the_cache"),
        row("7 404 SCRAPE_LOCKDOWN_CACHE_MISS", "lockdown, and the cache has no page that is fresh enough")
            .tested("websvc-scrape", "lockdown_never_fetches")
            .tested("websvc-cli", "min_age_and_lockdown_use_only_the_cache"),
        row("7 408", "the search exceeded its timeout: {success: false, error}, without code")
            .tested("websvc-server", "timeout_has_the_body_of_the_specification"),
        row("7 429", "rate or concurrency limit exceeded, with Retry-After")
            .tested("websvc-server", "rate_limit_error_has_retry_after")
            .tested("websvc-server", "requests_per_minute_are_limited_by_team_and_by_key")
            .tested("websvc-cli", "every_response_carries_rate_limit_headers"),
        row("7 500", "unexpected failure: {success: false, code: UNKNOWN_ERROR, error}")
            .tested("websvc-transport", "handler_panic_gets_500_and_the_server_continues")
            .tested("websvc-server", "internal_error_has_the_body_of_the_specification"),
        row("7 failure body", "success false and error, with code and details if there are any")
            .tested("websvc-types", "error_body_without_code_and_details_has_neither")
            .tested("websvc-types", "codes_are_unique_and_have_error_statuses")
            .tested("websvc-types", "error_codes_match_the_documentation"),
        row("7 rule 1", "mode off is rejected if threat protection is enforced; the case is in 2.3 mode")
            .tested("websvc-validate", "threat_protection_requires_the_permission"),
        row("7 rule 2", "failurePolicy decides if the classifier is not available")
            .tested("websvc-cli", "failure_policy_applies_while_the_scanner_fails"),
        row(
            "7 rule 3",
            "violations are 400 BAD_REQUEST, all of them in details; invalid JSON is 400 \
             BAD_REQUEST_INVALID_JSON (not specified)",
        )
        .at(body())
        .bad_in(json!({ "limit": 101 }), &[("/limit", TooBig), ("/query", Missing)])
        .tested("websvc-cli", "every_rule_violation_is_reported")
        .tested("websvc-cli", "malformed_json_is_reported_with_its_line")
        .tested("websvc-types", "violation_codes_match_the_documentation"),
    ]
}
