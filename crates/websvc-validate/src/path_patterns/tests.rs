//! Tests of the cost of patterns, and of rejected ones.

use super::*;

fn heavy(number: usize) -> String {
    format!("(x{{200}}){{100}}y{number}")
}

fn lease(handle: &PathPatterns, texts: impl IntoIterator<Item = String>) -> Result<PatternLease, String> {
    let mut request = handle.request();
    for text in texts {
        request.add(&text).map_err(|error| format!("{error:?}"))?;
    }
    request.lease()
}

#[test]
fn equal_patterns_of_many_requests_count_once() {
    let patterns = PathPatterns::default();
    let one = lease(&patterns, [heavy(1)]).expect("room");
    let alone = patterns.usage();
    assert_eq!(alone.patterns, 1);
    let others: Vec<PatternLease> = (0..20)
        .map(|number| {
            let team = patterns.of_team(&format!("team{}", number % 3));
            lease(&team, (0..200).map(|_| heavy(1))).expect("room")
        })
        .collect();
    assert_eq!(patterns.usage(), alone);
    assert!(others.iter().all(|other| Arc::ptr_eq(&other.patterns[0], &one.patterns[0])));
    drop(one);
    assert_eq!(patterns.usage(), alone);
    drop(others);
    assert_eq!(patterns.usage(), PatternUsage::default());
    assert!(patterns.table.lock().teams.is_empty());
}

#[test]
fn request_over_its_bound_is_refused() {
    let patterns = PathPatterns::default();
    let mut request = patterns.request();
    let taken = (0..200).take_while(|number| request.add(&heavy(*number)).is_ok()).count();
    assert!((1..50).contains(&taken), "{taken}");
    assert_eq!(request.add(&heavy(taken)), Err(PatternError::RequestFull(PATH_PATTERNS_MAX_BYTES)));
    // Those that it has cost nothing more.
    assert_eq!(request.add(&heavy(0)), Ok(0));
    drop(request);
    assert_eq!(patterns.usage(), PatternUsage::default());
}

#[test]
fn team_over_its_bound_is_refused_and_others_are_not() {
    let bytes = PathPattern::compile(&heavy(1), usize::MAX).expect("a pattern").bytes();
    let limits = PatternLimits { request: 2 * bytes + 64, team: 3 * bytes + 64, total: 5 * bytes + 64 };
    let patterns = PathPatterns::new(limits);
    let (a, b, c) = (patterns.of_team("a"), patterns.of_team("b"), patterns.of_team("c"));
    let first = lease(&a, [heavy(1), heavy(2)]).expect("room");
    let error = lease(&a, [heavy(3), heavy(4)]).expect_err("the team has no room");
    assert!(error.contains("of a team") && error.contains(&limits.team.to_string()), "{error}");
    assert_eq!(patterns.usage().patterns, 2);
    let shared = lease(&b, [heavy(1), heavy(2)]).expect("room: they are there");
    let second = lease(&c, [heavy(3), heavy(4)]).expect("room");
    let error = lease(&b, [heavy(5), heavy(6)]).expect_err("no room");
    assert!(error.contains("of a team"), "{error}");
    let error = lease(&patterns.of_team("d"), [heavy(5), heavy(6)]).expect_err("no room");
    assert!(error.contains("all crawls and maps"), "{error}");
    drop(first);
    assert_eq!(patterns.usage().patterns, 4);
    drop(shared);
    assert_eq!(patterns.usage().patterns, 2);
    let third = lease(&a, [heavy(5), heavy(6)]).expect("room again");
    drop((second, third));
    assert_eq!(patterns.usage(), PatternUsage::default());
}

#[test]
fn hundreds_of_ordinary_patterns_fit() {
    let patterns = PathPatterns::default();
    let texts = (0..200).map(|number| format!(r"^/section-{number}/\d{{4}}/[^/]+/.*\w+-\d+\.html$"));
    let lease = lease(&patterns, texts).expect("room");
    assert!(lease.get(7).expect("a pattern").is_match("/section-7/2026/a/b-c-12.html"));
    assert!(!lease.get(8).expect("a pattern").is_match("/section-7/2026/a/b-c-12.html"));
    assert!(lease.get(200).is_none());
}
