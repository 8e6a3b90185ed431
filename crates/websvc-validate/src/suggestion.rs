//! Suggestions for misspelled names.

/// Maximum length of a text to compare, in characters. Longer texts are not misspelled names and would be slow.
const MAX_CHARS: usize = 48;

/// Returns the known name that `text` most likely misspells, or `None` if none is similar.
///
/// Letter case is ignored. At most every third character may differ, and at most four. Of equally similar names, the
/// first one is returned.
///
/// ```
/// use websvc_validate::suggest;
///
/// assert_eq!(suggest("limt", ["query", "limit"]), Some("limit"));
/// assert_eq!(suggest("color", ["query", "limit"]), None);
/// ```
pub fn suggest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = lowercase(text)?;
    let max_distance = text.len().div_ceil(3).min(4);
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        let Some(candidate) = lowercase(name) else { continue };
        if candidate.len().abs_diff(text.len()) > max_distance {
            continue;
        }
        let distance = distance(&text, &candidate);
        if distance <= max_distance && best.is_none_or(|(min, _)| distance < min) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Returns the text in lower case, or `None` if it is too long.
fn lowercase(text: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = text.chars().take(MAX_CHARS + 1).flat_map(char::to_lowercase).collect();
    (letters.len() <= MAX_CHARS).then_some(letters)
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbors (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row_before_previous: Vec<usize> = vec![0; b.len() + 1];
    let mut previous_row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for j in 0..b.len() {
            let replaced = previous_row[j] + usize::from(a[i] != b[j]);
            let mut min = replaced.min(previous_row[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                min = min.min(row_before_previous[j - 1] + 1);
            }
            row.push(min);
        }
        row_before_previous = std::mem::replace(&mut previous_row, row);
    }
    previous_row[b.len()]
}
