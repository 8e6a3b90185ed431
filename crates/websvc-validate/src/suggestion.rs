//! Suggestions for misspelled names.

/// Longer texts are no misspelt names, and comparing them would take long.
const LONGEST: usize = 48;

/// Returns the known name that `text` most likely misspells, or `None` when none is near.
///
/// Case does not count; every third character may be wrong. Of equally near names the first is returned.
pub fn suggest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = lowered(text)?;
    let bound = wanted.len().div_ceil(3).min(4);
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        let Some(candidate) = lowered(name) else { continue };
        if candidate.len().abs_diff(wanted.len()) > bound {
            continue;
        }
        let distance = distance(&wanted, &candidate);
        if distance <= bound && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

fn lowered(text: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = text.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect();
    (letters.len() <= LONGEST).then_some(letters)
}

/// Returns how many letters must be inserted, removed, replaced or swapped with their neighbour (optimal string
/// alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for j in 0..b.len() {
            let replaced = above[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}
