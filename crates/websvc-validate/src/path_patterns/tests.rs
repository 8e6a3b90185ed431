//! Tests of the memory limits of path patterns.

use super::*;

/// Returns a pattern that takes about a megabyte.
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
fn equal_patterns_of_several_requests_count_once() {
    let patterns = PathPatterns::default();
    let first = lease(&patterns, [heavy(1)]).expect("within the limits");
    let alone = patterns.usage();
    assert_eq!(alone.patterns, 1);
    let others: Vec<PatternLease> = (0..20)
        .map(|number| {
            let team = patterns.for_team(&format!("team{}", number % 3));
            lease(&team, (0..200).map(|_| heavy(1))).expect("within the limits")
        })
        .collect();
    assert_eq!(patterns.usage(), alone);
    assert!(others.iter().all(|other| Arc::ptr_eq(&other.patterns[0], &first.patterns[0])));
    drop(first);
    assert_eq!(patterns.usage(), alone);
    drop(others);
    assert_eq!(patterns.usage(), PatternUsage::default());
    assert!(patterns.table.lock().teams.is_empty());
}

#[test]
fn request_above_its_limit_is_rejected() {
    let patterns = PathPatterns::default();
    let mut request = patterns.request();
    let added = (0..200).take_while(|number| request.add(&heavy(*number)).is_ok()).count();
    assert!((1..50).contains(&added), "{added}");
    assert_eq!(request.add(&heavy(added)), Err(PatternError::RequestFull(PATH_PATTERNS_MAX_BYTES)));
    // Patterns that were added before cost nothing more.
    assert_eq!(request.add(&heavy(0)), Ok(0));
    drop(request);
    assert_eq!(patterns.usage(), PatternUsage::default());
}

#[test]
fn team_above_its_limit_is_rejected_and_others_are_not() {
    let bytes = PathPattern::compile(&heavy(1), usize::MAX).expect("a pattern").bytes();
    let limits = PatternLimits { request: 2 * bytes + 64, team: 3 * bytes + 64, total: 5 * bytes + 64 };
    let patterns = PathPatterns::new(limits);
    let (a, b, c) = (patterns.for_team("a"), patterns.for_team("b"), patterns.for_team("c"));
    let first = lease(&a, [heavy(1), heavy(2)]).expect("within the limits");
    let error = lease(&a, [heavy(3), heavy(4)]).expect_err("above the limit of the team");
    assert!(error.contains("of a team") && error.contains(&limits.team.to_string()), "{error}");
    assert_eq!(patterns.usage().patterns, 2);
    let shared = lease(&b, [heavy(1), heavy(2)]).expect("the patterns are shared");
    let second = lease(&c, [heavy(3), heavy(4)]).expect("within the limits");
    let error = lease(&b, [heavy(5), heavy(6)]).expect_err("above a limit");
    assert!(error.contains("of a team"), "{error}");
    let error = lease(&patterns.for_team("d"), [heavy(5), heavy(6)]).expect_err("above a limit");
    assert!(error.contains("all running crawls and maps"), "{error}");
    drop(first);
    assert_eq!(patterns.usage().patterns, 4);
    drop(shared);
    assert_eq!(patterns.usage().patterns, 2);
    let third = lease(&a, [heavy(5), heavy(6)]).expect("within the limits again");
    drop((second, third));
    assert_eq!(patterns.usage(), PatternUsage::default());
}

#[test]
fn hundreds_of_ordinary_patterns_are_within_the_limits() {
    let patterns = PathPatterns::default();
    let texts = (0..200).map(|number| format!(r"^/section-{number}/\d{{4}}/[^/]+/.*\w+-\d+\.html$"));
    let lease = lease(&patterns, texts).expect("within the limits");
    assert!(lease.get(7).expect("a pattern").is_match("/section-7/2026/a/b-c-12.html"));
    assert!(!lease.get(8).expect("a pattern").is_match("/section-7/2026/a/b-c-12.html"));
    assert!(lease.get(200).is_none());
}
