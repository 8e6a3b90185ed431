//! Tests of the format `highlights`.

use std::time::Duration;

use websvc_model::{CompletionContent, FakeModel};
use websvc_stage::StageTimes;

use super::*;

/// Chooses passages and joins them.
async fn choose(session: &mut ModelSession<'_>, query: &str, markdown: &str) -> Generated<String> {
    let Generated { content, by_model } = choose_passages(session, query, markdown).await;
    let joined = |passages: Vec<HighlightPassage>| {
        passages.into_iter().map(|passage| passage.text).collect::<Vec<_>>().join("\n\n")
    };
    Generated { content: content.map(joined), by_model }
}

#[tokio::test]
async fn passages_have_their_positions_in_the_markdown() {
    let stages = StageTimes::default();
    let markdown =
        "# T\u{e9}\n\nCoffee is roasted.\n\n\nSencha is a gr\u{fc}ner green tea.\n\nGreen tea is cheap.\n";
    let mut session = session(&stages, Duration::from_secs(60));
    let passages = choose_passages(&mut session, "green tea", markdown).await.content.unwrap();
    assert_eq!(passages.len(), 2, "{passages:?}");
    for HighlightPassage { text, start, end } in passages {
        let (start, len) = (usize::try_from(start).unwrap(), usize::try_from(end - start).unwrap());
        let found: String = markdown.chars().skip(start).take(len).collect();
        assert_eq!(found, text);
    }
}

fn session(stages: &StageTimes, timeout: Duration) -> ModelSession<'_> {
    ModelSession { model: None, stages, deadline: Instant::now() + timeout, warnings: Vec::new() }
}

/// Chooses with a model that names these passages.
async fn with_model(query: &str, markdown: &str, named: &[usize]) -> (Generated<String>, Vec<String>) {
    let answer = json!({ "passages": named });
    let model = FakeModel::new(move |_| Ok(CompletionContent::Json(answer.clone())));
    let stages = StageTimes::default();
    let mut session = ModelSession { model: Some(&model), ..session(&stages, Duration::from_secs(60)) };
    let generated = choose(&mut session, query, markdown).await;
    (generated, session.warnings)
}

#[tokio::test]
async fn answer_that_the_words_contradict_falls_back_to_them() {
    let others: Vec<String> = (0..20).map(|index| format!("Garden {index} lies by the river.")).collect();
    let markdown = format!("# Tea\n\nA tin of sencha costs 12 euros.\n\n{}", others.join("\n\n"));
    let all: Vec<usize> = (1..=22).collect();
    let best = "A tin of sencha costs 12 euros.";
    for (named, reason) in [
        (all.as_slice(), "named 22 passages, more than 8"),
        (&all[..8], "named the first 8 passages one after the other"),
        (&[], "named passages with 0 words of the query, where another passage has 2 of 2"),
        (&[4, 9], "named passages with 0 words"),
    ] {
        let (Generated { content, by_model }, warnings) =
            with_model("What does sencha cost?", &markdown, named).await;
        assert!(content.as_deref() == Some(best) && !by_model, "{named:?}: {content:?}");
        assert!(warnings[0].contains(reason), "{named:?}: {warnings:?}");
        assert!(warnings[1].contains("chosen by the words of the query"), "{warnings:?}");
    }
    // More than half of a page with more than a few passages.
    let (generated, warnings) = with_model("sencha tin", "A tin of sencha.\n\nGardens.", &[1, 2]).await;
    assert_eq!(generated.content.as_deref(), Some("A tin of sencha."));
    assert!(warnings[0].contains("named the whole page"), "{warnings:?}");
    let short = markdown.split("\n\n").take(6).collect::<Vec<_>>().join("\n\n");
    let (generated, warnings) = with_model("What does sencha cost?", &short, &[2, 3, 4, 5]).await;
    assert!(
        generated.content.as_deref() == Some(best) && warnings[0].contains("more than half"),
        "{warnings:?}"
    );
}

#[tokio::test]
async fn answer_that_the_words_do_not_contradict_is_used() {
    let markdown = "# Tea\n\nA tin costs 12 euros.\n\nSencha is green.\n\nRooibos is red.\n\nWrite to us.";
    for (query, named, expected) in [
        // No passage has a word of the query.
        ("prices", &[2][..], "A tin costs 12 euros."),
        // Another passage has as many words.
        ("green or red tea", &[4][..], "Rooibos is red."),
        // Another passage has more.
        ("green or red sencha", &[4][..], "Sencha is green.\n\nRooibos is red."),
        // A page of few passages may match as a whole.
        ("tea", &[1, 2][..], "# Tea\n\nA tin costs 12 euros."),
    ] {
        let (Generated { content, by_model }, warnings) = with_model(query, markdown, named).await;
        assert!(by_model && warnings.is_empty(), "{query}: {warnings:?}");
        assert_eq!(content.as_deref(), Some(expected));
    }
    let (generated, _) = with_model("coffee", markdown, &[]).await;
    assert!(generated.content.is_none() && generated.by_model, "a model may find nothing");
}

#[tokio::test]
async fn model_reads_the_best_passages_of_a_long_page() {
    let mut passages: Vec<String> =
        (0..4_000).map(|index| format!("Garden {index} lies on a slope by the river, in the sun.")).collect();
    passages.insert(3_900, "An annual pass costs 99 euros.".to_owned());
    let markdown = format!("# Gardens\n\n{}", passages.join("\n\n"));
    assert!(markdown.len() > 200_000);
    let model = FakeModel::new(|request| {
        let content = request.content.unwrap();
        assert!(
            content.starts_with("[1]\n# Gardens\n\n[2]\n") && content.len() < 12_000,
            "{}",
            content.len()
        );
        assert!(content.contains("[3902]\nAn annual pass costs 99 euros."), "{content}");
        Ok(CompletionContent::Json(json!({ "passages": [3902] })))
    });
    let model = model.with_max_input_chars(12_000);
    let stages = StageTimes::default();
    let mut session = ModelSession { model: Some(&model), ..session(&stages, Duration::from_secs(60)) };
    let Generated { content, by_model } = choose(&mut session, "the cost of an annual pass", &markdown).await;
    assert!(by_model && content.as_deref() == Some("An annual pass costs 99 euros."), "{content:?}");
    let warnings = &session.warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("the page has 4002 passages"), "{warnings:?}");
}

#[tokio::test]
async fn passages_chosen_by_words_are_in_page_order() {
    let markdown = "# Tea\n\nCoffee is roasted.\n\nSencha is a green tea.\n\nMatcha is a green tea, too.\n";
    let stages = StageTimes::default();
    let mut session = session(&stages, Duration::from_secs(60));
    let Generated { content, by_model } = choose(&mut session, "green tea", markdown).await;
    assert_eq!(content.as_deref(), Some("Sencha is a green tea.\n\nMatcha is a green tea, too."));
    assert!(!by_model && session.warnings.is_empty());
    assert_eq!(choose(&mut session, "chocolate", markdown).await.content, None);
    let long: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
    choose(&mut session, &format!("sencha {}", long.join(" ")), markdown).await;
    assert!(session.warnings.iter().any(|warning| warning.contains("first 64")), "{:?}", session.warnings);
}

/// The only async thread must remain free for a timer, and the deadline must be met.
#[tokio::test]
async fn long_text_blocks_neither_the_async_thread_nor_the_request() {
    let (query, markdown) = ("a b ".repeat(2_500), "a b ".repeat(2_500_000));
    let stages = StageTimes::default();
    let mut session = session(&stages, Duration::from_millis(30));
    let (mut ticks, mut interval) = (0, tokio::time::interval(Duration::from_millis(5)));
    let mut choosing = Box::pin(choose(&mut session, &query, &markdown));
    let chosen = loop {
        tokio::select! {
            biased;
            _ = interval.tick() => ticks += 1,
            chosen = &mut choosing => break chosen,
        }
    };
    drop(choosing);
    assert_eq!(chosen.content, None);
    assert!(ticks >= 3, "{ticks}");
    assert!(
        session.warnings.iter().any(|warning| warning.contains("not done in time")),
        "{:?}",
        session.warnings
    );
}

#[test]
fn unknown_passage_numbers_are_ignored() {
    let check = |response: Value, expected: Option<Vec<usize>>| {
        assert_eq!(indexes(&response, 3), expected, "{response}");
    };
    check(json!({ "passages": [3, 1, 1, 0, 4, -1, "2", 1.5] }), Some(vec![0, 2]));
    check(json!({ "passages": [] }), Some(Vec::new()));
    check(json!({ "passages": "all" }), None);
    check(json!([1]), None);
}
