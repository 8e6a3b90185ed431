//! The links and file names of the README and of `docs/`: every relative link, and every path that begins with a folder of
//! the repository, must lead to a file of the repository.

use std::path::Path;

/// Top-level folders whose files the manual names.
const FOLDERS: &[&str] = &["docs", "crates", "xtask"];
/// The files for operators. The manual names them relative to this folder.
const DEPLOY: &str = "docs/deploy";

/// Adds a violation for each relative link of a page that leads nowhere, and for each name of a file that does not exist.
pub(super) fn check(root: &Path, name: &str, text: &str, violations: &mut Vec<String>) {
    if name != "README.md" && !(name.starts_with("docs/") && name.ends_with(".md")) {
        return;
    }
    let folder = root.join(name).parent().map(Path::to_path_buf).unwrap_or_default();
    for (line, target) in targets(text) {
        let path = target.split(['#', '?']).next().unwrap_or_default();
        if path.is_empty() || is_elsewhere(target) {
            continue;
        }
        if path.starts_with('/') {
            violations.push(format!("{name}:{line}: the link to \"{target}\" is not relative"));
        } else if !folder.join(path).exists() {
            violations.push(format!("{name}:{line}: the link to \"{target}\" leads nowhere"));
        }
    }
    for (number, line) in (1..).zip(text.lines()) {
        for path in line.split(|c: char| c.is_whitespace() || "`\"'()<>[]|,;=".contains(c)) {
            let path = path.trim_end_matches(['.', ':']).split('#').next().unwrap_or_default();
            if is_missing(root, path) {
                violations.push(format!("{name}:{number}: there is no file \"{path}\""));
            }
        }
    }
}

/// Returns whether a word of a page is a path below a folder of the repository and does not exist. A pattern is not a path.
fn is_missing(root: &Path, path: &str) -> bool {
    let Some((folder, _)) = path.split_once('/') else { return false };
    if path.contains(['*', '{', '$']) {
        return false;
    }
    if FOLDERS.contains(&folder) {
        return !root.join(path).exists();
    }
    let deploy = root.join(DEPLOY);
    !["", ".", ".."].contains(&folder) && deploy.join(folder).is_dir() && !deploy.join(path).exists()
}

/// Returns whether the target has a scheme, such as `https:` or `mailto:`.
fn is_elsewhere(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)))
}

/// Returns the targets of links, pictures and definitions, with their line numbers; code is left out.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => found.extend(of_line(line).into_iter().map(|target| (number, target))),
        }
    }
    found
}

fn of_line(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    if let Some((label, target)) = line.trim_start().split_once("]:")
        && label.starts_with('[')
        && !label.starts_with("[^")
    {
        found.extend(target.split_whitespace().next());
    }
    // What stands between backticks is every second part.
    let mut rest = line;
    let mut at_text = true;
    while !rest.is_empty() {
        let end = rest.find('`').unwrap_or(rest.len());
        if at_text {
            found.extend(inline(line, line.len() - rest.len(), end));
        }
        at_text = !at_text;
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    found
}

/// Finds `](target)` that begins within `length` bytes from `start`; a target may go on behind it.
fn inline(line: &str, start: usize, length: usize) -> Vec<&str> {
    let part = &line[start..];
    let opened = part.match_indices("](").filter(|(at, _)| *at <= length);
    opened
        .filter_map(|(at, mark)| part[at + mark.len()..].split_once(')'))
        .filter_map(|(target, _)| target.split_whitespace().next())
        .map(|target| target.trim_start_matches('<').trim_end_matches('>'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_with_their_lines_and_not_in_code() {
        let text = "See [a](one.md) and ![b](img/two.png \"title\") and [`code`](three.md#part).\n\
                    ```\n[no](four.md)\n```\nnot `[no](five.md)` but [yes](<six.md>)\n[ref]: seven.md\n[^1]: note\n";
        let expected =
            [(1, "one.md"), (1, "img/two.png"), (1, "three.md#part"), (5, "six.md"), (6, "seven.md")];
        let mut found = targets(text);
        found.sort_unstable_by_key(|(line, target)| (*line, text.find(target)));
        assert_eq!(found, expected);
    }

    #[test]
    fn links_that_lead_nowhere_are_named() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = "[ok](Cargo.toml#L1) [ok](src/../src/main.rs) [web](https://a.test/x) [mail](mailto:a@b.test)\n\
                    [here](#part) [gone](gone.md) [absolute](/Cargo.toml)\n";
        let mut found = Vec::new();
        check(root, "README.md", text, &mut found);
        let expected = [
            "README.md:2: the link to \"gone.md\" leads nowhere",
            "README.md:2: the link to \"/Cargo.toml\" is not relative",
        ];
        assert_eq!(found, expected);
        let mut elsewhere = Vec::new();
        check(root, "src/notes.md", text, &mut elsewhere);
        assert_eq!(elsewhere, Vec::<String>::new(), "only the README and docs/ are checked");
    }

    #[test]
    fn names_of_missing_files_are_reported_also_in_code() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = "`xtask/Cargo.toml`, `crates/`, docs/*.md and `container/compose.yaml`.\n\
                    ```sh\nkubectl apply --filename docs/deploy/kubernetes/nothing.yaml\n```\n\
                    `container/nothing.yaml`, `src/nothing.rs`, https://docs.example/nothing and `../nothing.md`\n";
        let mut found = Vec::new();
        check(&folder, "docs/page.md", text, &mut found);
        let expected = [
            "docs/page.md:3: there is no file \"docs/deploy/kubernetes/nothing.yaml\"",
            "docs/page.md:5: there is no file \"container/nothing.yaml\"",
        ];
        assert_eq!(found, expected);
    }
}
