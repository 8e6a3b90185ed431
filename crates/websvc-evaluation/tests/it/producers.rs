//! The text and structure that are read from the PDF files of many producers, against the recorded scores.

pub(crate) mod score;
pub(crate) mod set;
#[path = "../../../websvc-extract/tests/it/structure.rs"]
mod structure;

use score::{Content, MEASURES, Total};

/// The scores in the order of [`MEASURES`]. Raise a value if the reader becomes better.
const RECORDED: [f64; 8] = [0.999, 0.995, 0.999, 0.956, 0.989, 0.978, 0.987, 1.0];
/// The scores of the pictures of pages.
const RECORDED_OF_SCANS: [f64; 8] = [0.990, 0.959, 1.0, 0.687, 0.869, 0.937, 0.809, 0.0];

#[test]
fn scores_of_the_producers_do_not_fall() {
    let folder = set::folder();
    let (mut files, mut scans) = (Total::default(), Total::default());
    for entry in set::entries(&folder) {
        let total = if entry.is_scan() { &mut scans } else { &mut files };
        total.add(&Content::of_markdown(&entry.read(&folder).markdown), &entry.truth(&folder));
    }
    assert!(files.documents > 60 && scans.documents > 1);
    assert_scores(&files, RECORDED);
    assert_scores(&scans, RECORDED_OF_SCANS);
}

fn assert_scores(total: &Total, recorded: [f64; 8]) {
    let measured = total.measures().map(|value| value.unwrap_or(0.0));
    for ((name, measured_value), recorded) in MEASURES.iter().zip(measured).zip(recorded) {
        assert!(
            measured_value > recorded - 0.0005,
            "{name}: {measured_value:.4} is below {recorded:.4}: {measured:.4?}"
        );
    }
}

#[test]
fn scores_count_common_words_runs_and_parts() {
    use set::Part;

    let known = [
        Part::Heading("The mill".into()),
        Part::Paragraph("One two three four five.".into()),
        Part::Item("first item here".into()),
        Part::Row(vec!["a".into(), "1".into()]),
    ];
    let score = |found: &Content| {
        let mut total = Total::default();
        total.add(found, &known);
        total.measures().map(|value| value.unwrap_or(-1.0))
    };
    let markdown =
        "# The mill\n\nOne two three four five.\n\n- first item here\n\n| a | 1 |\n| --- | --- |\n";
    assert_eq!(score(&Content::of_markdown(markdown)), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0]);
    let text = score(&Content::of_text("The mill\n1. first item here\nOne two three four five.\na 1"));
    assert_eq!(text[0], 1.0);
    assert!(text[1] < 1.0 && text[2] == 0.0 && text[3..7] == [0.0; 4], "{text:?}");
    let wrong = score(&Content::of_markdown("# The mill\n\n# Another\n\n```\nx = 1\n```\n"));
    assert_eq!((wrong[4], wrong[7]), (2.0 / 3.0, 0.0));
}
