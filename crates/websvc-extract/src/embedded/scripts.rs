//! The programs of a page. The tree does not store them, so they are found in the source.

/// Iterates over the programs in a source in document order, without those in comments and those with another type.
pub(super) fn programs(source: &str) -> impl Iterator<Item = &str> {
    let mut rest = source;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find('<')?;
            rest = &rest[at..];
            if let Some(comment) = rest.strip_prefix("<!--") {
                rest = comment.split_once("-->")?.1;
                continue;
            }
            let is_script = rest.get(1..7).is_some_and(|name| name.eq_ignore_ascii_case("script"));
            if !is_script {
                rest = &rest[1..];
                continue;
            }
            let (attributes, after) = rest[7..].split_once('>')?;
            let end = end_of_script(after);
            rest = &after[end..];
            if is_program(attributes) {
                return Some(&after[..end]);
            }
        }
    })
}

fn end_of_script(text: &str) -> usize {
    let is_end =
        |at: &usize| text.get(at + 2..at + 8).is_some_and(|name| name.eq_ignore_ascii_case("script"));
    text.match_indices("</").map(|(at, _)| at).find(is_end).unwrap_or(text.len())
}

/// Returns whether the attributes of a script have no type, or that of JavaScript.
fn is_program(attributes: &str) -> bool {
    let lower = attributes.to_ascii_lowercase();
    let Some((_, kind)) = lower.split_once("type=") else { return true };
    let kind = kind.trim_start_matches(['"', '\'']);
    kind.starts_with("text/javascript")
        || kind.starts_with("application/javascript")
        || kind.starts_with("module")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_source() {
        let source = "<p>1 < 2<script>a</script><!-- <script>b</script> --><SCRIPT TYPE='module' async>c</Script>\
                      <script type=\"application/json\">{}</script><script src=x></script><script>d";
        assert_eq!(programs(source).collect::<Vec<_>>(), ["a", "c", "", "d"]);
    }
}
