//! Applies a unified diff to a text, independently of the code that writes it.

/// Returns the text after the diff. Panics if the diff does not fit the text.
pub(crate) fn apply(previous: &str, diff: &str) -> String {
    let old: Vec<&str> = previous.split_inclusive('\n').collect();
    let (mut result, mut next) = (String::new(), 0);
    let mut lines = diff.split_terminator('\n').skip(2).peekable();
    while let Some(header) = lines.next() {
        let ranges = header.strip_prefix("@@ -").and_then(|rest| rest.strip_suffix(" @@")).unwrap();
        let (old_range, new_range) = ranges.split_once(" +").unwrap();
        let (old_start, mut old_lines) = numbers(old_range);
        let (_, mut new_lines) = numbers(new_range);
        let start = if old_lines == 0 { old_start } else { old_start - 1 };
        result.push_str(&old[next..start].concat());
        next = start;
        while old_lines > 0 || new_lines > 0 {
            let line = lines.next().unwrap();
            let has_newline = lines.next_if(|line| line.starts_with('\\')).is_none();
            let text = format!("{}{}", &line[1..], if has_newline { "\n" } else { "" });
            match &line[..1] {
                "+" => {
                    result.push_str(&text);
                    new_lines -= 1;
                }
                sign => {
                    assert_eq!(old[next], text, "{header}");
                    next += 1;
                    old_lines -= 1;
                    if sign == " " {
                        result.push_str(&text);
                        new_lines -= 1;
                    }
                }
            }
        }
    }
    result.push_str(&old[next..].concat());
    result
}

fn numbers(range: &str) -> (usize, usize) {
    let (start, lines) = range.split_once(',').unwrap();
    (start.parse().unwrap(), lines.parse().unwrap())
}
