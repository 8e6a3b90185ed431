//! Tests of the checks of the language models.

use super::*;

fn place(index: usize) -> Place<'static> {
    Place { index, models: &[] }
}

#[test]
fn unlisted_model_is_a_warning() {
    let elapsed = Duration::from_millis(3);
    let listed = ["tiny".to_owned(), "other".to_owned()];
    assert_eq!(place(0).list_finding("x", &["tiny"], &listed, elapsed).state, State::Ok);
    let warned = place(0).list_finding("x", &["tiny", "huge"], &listed, elapsed);
    assert_eq!(warned.state, State::Warning);
    assert!(warned.message.ends_with("does not list huge"), "{}", warned.message);
}

#[test]
fn agent_runs_need_a_model_that_completes_and_works() {
    let config = Config::default();
    let check = |can_complete, model, (state, words): (State, &str)| {
        let finding = agent_finding(&config, can_complete, model);
        assert_eq!(finding.state, state);
        assert!(finding.message.contains(words), "{}", finding.message);
    };
    check(false, State::Ok, (State::Ok, "off"));
    check(true, State::Problem, (State::Warning, "would fail"));
    check(true, State::Ok, (State::Ok, "4 at the same time, 2 per team, each up to 60 steps and 900 s"));
    check(true, State::Warning, (State::Ok, "900 s"));
}

#[test]
fn model_error_advice_names_the_key_of_the_endpoint() {
    let check = |index, error: ModelError, expected: &str| {
        let finding = place(index).failed("x".to_owned(), &error);
        assert_eq!(finding.state, State::Problem);
        assert!(finding.advice.is_some_and(|advice| advice.contains(expected)), "{error}");
    };
    check(0, ModelError::Status { status: 401 }, "`llm.api_key`");
    check(0, ModelError::Status { status: 500 }, "`llm.base_url`");
    check(0, ModelError::Status { status: 429 }, "`llm.concurrency`");
    check(0, ModelError::Unreachable { reason: "x" }, "the endpoint runs");
    check(2, ModelError::Status { status: 401 }, "`llm.fallback[1].api_key`");
}

#[test]
fn checks_are_named_after_the_model_and_the_endpoint() {
    assert_eq!(place(0).name_of(None), "language model");
    assert_eq!(place(0).name_of(Some("tiny")), "language model tiny");
    assert_eq!(place(1).name_of(Some("tiny")), "language model tiny (llm.fallback[0])");
}

#[test]
fn joined_findings_have_the_worst_state_and_all_advice() {
    let joined =
        join(Finding::warning("a", "one").advice("do x"), Finding::problem("a", "two").advice("do y"));
    assert_eq!(joined, Finding::problem("a", "one; two").advice("do x; do y"));
    let joined = join(Finding::ok("a", "one"), Finding::ok("a", "two"));
    assert_eq!(joined, Finding::ok("a", "one; two"));
    assert_eq!(best_state(&[Finding::problem("a", "x").advice("y"), Finding::ok("b", "x")]), State::Ok);
    assert_eq!(best_state(&[Finding::problem("a", "x").advice("y")]), State::Problem);
}
