//! The log lines of the program: operators read them, so that no value is written with its `Debug` output.

const LEVELS: &[&str] = &["trace", "debug", "info", "warn", "error"];

/// Adds a violation for each log line of a crate that writes a value with its `Debug` output.
pub(super) fn check(name: &str, text: &str, violations: &mut Vec<String>) {
    if !(name.starts_with("crates/") && name.contains("/src/") && name.ends_with(".rs")) {
        return;
    }
    for (at, _) in text.match_indices("tracing::") {
        let rest = &text[at + "tracing::".len()..];
        let Some((level, arguments)) = rest.split_once("!(") else { continue };
        if LEVELS.contains(&level) && has_debug_output(arguments_of(arguments)) {
            let line = text[..at].matches('\n').count() + 1;
            violations.push(format!("{name}:{line}: a log line has the Debug output of a value"));
        }
    }
}

/// Returns the text up to the parenthesis that closes the arguments.
fn arguments_of(text: &str) -> &str {
    let mut depth = 1_usize;
    let end = text.find(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// Returns whether the arguments of a log line have a value such as `?value`, `name = ?value` or `{value:?}`.
fn has_debug_output(arguments: &str) -> bool {
    let is_value = |at: usize| {
        let before = arguments[..at].trim_end().chars().next_back();
        before.is_none_or(|c| c == ',' || c == '=')
    };
    arguments.contains(":?}")
        || arguments.contains(":#?}")
        || arguments.match_indices('?').any(|(at, _)| is_value(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_line(line: &str, is_violation: bool) {
        let mut violations = Vec::new();
        check("crates/a/src/b.rs", &format!("//! x\nfn f() {{\n    {line}\n}}\n"), &mut violations);
        let expected = ["crates/a/src/b.rs:3: a log line has the Debug output of a value"];
        assert_eq!(violations, if is_violation { &expected[..] } else { &[] }, "{line}");
    }

    #[test]
    fn debug_output_in_a_log_line_is_named() {
        check_line("tracing::info!(?drained, \"stopped\");", true);
        check_line("tracing::warn!(id, cause = ?error, \"ended\");", true);
        check_line("tracing::error!(\n        id,\n        ?duration,\n        \"ended\"\n    );", true);
        check_line("tracing::debug!(\"ended: {error:?}\");", true);
        check_line("tracing::info!(id = name(), count = list.len(), \"done (all)\");", false);
        check_line("tracing::info!(address = %server.address()?, \"ready?\");", false);
        check_line("let x = a?;", false);
    }

    #[test]
    fn only_the_program_is_checked() {
        let mut violations = Vec::new();
        let line = "//! x\ntracing::info!(?drained, \"stopped\");\n";
        for name in ["crates/a/tests/it/b.rs", "xtask/src/a.rs", "docs/a.md"] {
            check(name, line, &mut violations);
        }
        assert_eq!(violations, Vec::<String>::new());
    }
}
