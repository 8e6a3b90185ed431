//! Reader of relevance judgments in the format of TREC. The tests of the program read its export with it.

use std::collections::HashMap;
use std::path::Path;

/// Relevant documents of each query, with their grades.
pub(crate) type Judgments = HashMap<String, HashMap<String, f64>>;

/// Reads judgments, one a line: query, iteration, document, grade.
pub(crate) fn read(path: &Path) -> Judgments {
    let mut judgments = Judgments::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [query, _, document, grade] = *fields else {
            panic!("{line:?} has {} fields, not 4", fields.len());
        };
        let grade = grade.parse().unwrap();
        judgments.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
    }
    judgments
}
