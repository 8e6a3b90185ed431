//! Tests of `websvc eval search`, which measures the ranking of an index by judgments.

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::harness::Site;

/// Writes a file into the data directory of a site, and returns its path.
fn write(site: &Site, name: &str, text: &str) -> String {
    let path = site.data_dir().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

async fn site() -> Site {
    let site = Site::new(&TestWeb::builder().start().await);
    let page = |url: &str, text: &str| json!({"url": url, "title": "", "text": text}).to_string();
    let pages = [
        page("https://a.test/", "Green tea is brewed with warm water."),
        page("https://b.test/", "Black coffee is brewed with hot water, not tea."),
        page("https://c.test/", "Stones have no taste."),
    ];
    let file = write(&site, "pages.jsonl", &pages.join("\n"));
    site.succeed(&["index", "import", &file]);
    site
}

#[tokio::test(flavor = "multi_thread")]
async fn ranking_is_measured_by_judgments_as_table_and_json() {
    let site = site().await;
    let queries =
        "{\"_id\": \"1\", \"text\": \"green tea\"}\n{\"_id\": \"2\", \"text\": \"coffee\"}\n3\tunjudged\n";
    let queries = write(&site, "queries.jsonl", queries);
    // The second query finds neither of its two pages.
    let qrels =
        write(&site, "qrels.txt", "1 0 https://A.test 2\n1 0 https://c.test/ 0\n2 0 https://c.test/ 1\n");
    let arguments = ["eval", "search", "--queries", &queries, "--qrels", &qrels];
    let table = site.succeed(&arguments);
    assert_eq!(
        table.lines().collect::<Vec<_>>(),
        [
            "| set | queries | nDCG@10 | best BM25 | goal | R@100 |",
            "|---|---|---|---|---|---|",
            "| index | 2 | 0.500 | - | - | 0.500 |",
        ]
    );
    let report: Value = serde_json::from_str(&site.succeed(&[&arguments[..], &["--json"]].concat())).unwrap();
    assert_eq!((&report["queries"], &report["unjudged"]), (&json!(2), &json!(1)), "{report}");
    let first = json!({ "id": "1", "query": "green tea", "ndcg10": 1.0, "recall100": 1.0 });
    assert_eq!(report["byQuery"][0], first, "{report}");
    assert_eq!(report["byQuery"][1]["ndcg10"], json!(0.0), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_files_are_refused_with_the_line_and_the_rule() {
    let site = site().await;
    let queries = write(&site, "queries.jsonl", "1\tgreen tea\n");
    let qrels = write(&site, "qrels.txt", "1 0 https://a.test/ 1\n");
    for (name, text, expected) in [
        ("queries.jsonl", "1\ttea\ntea\n", "line 2: the line is neither JSON"),
        ("queries.jsonl", "", "is empty"),
        ("queries.jsonl", "2\ttea\n", "the IDs of the queries and of the judgments must be equal"),
        ("qrels.txt", "1 0 a.test 1\n2 0 https://a.test/ good\n", "line 1: \"a.test\" is not a URL"),
        (
            "qrels.txt",
            "query-id corpus-id score\n1 https://a.test/ much\n",
            "the grade \"much\" is not a number",
        ),
    ] {
        let bad = write(&site, &format!("bad-{name}"), text);
        let (queries, qrels) = if name == "qrels.txt" { (&queries, &bad) } else { (&bad, &qrels) };
        let output = site.run(&["eval", "search", "--queries", queries, "--qrels", qrels]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{text}: {error}");
    }
}
