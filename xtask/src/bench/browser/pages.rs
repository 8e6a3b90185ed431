//! The pages that are rendered: one without scripts, two with many scripts, and applications built with common
//! frameworks.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::site::{File, Files};
use crate::Result;

/// A page and a text that it contains once rendering is complete.
pub(super) struct Page {
    pub(super) name: &'static str,
    pub(super) path: String,
    pub(super) expected: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript";
const JSON: &str = "application/json";

/// Number of scripts of the page with many scripts.
const SCRIPTS: usize = 24;
/// Number of functions in each script.
const FUNCTIONS: usize = 80;

/// Returns the pages that are generated here, and adds their files.
pub(super) fn generated(files: &mut Files) -> Vec<Page> {
    let mut text = String::from("<!doctype html><title>Tides</title><h1>On the tides</h1>");
    for section in 0..120 {
        let _ = write!(
            text,
            "<h2 id=p{section}>Harbour {section}</h2><p>The water of harbour {section} rises twice a day by some metres, \
             less at neap and more at spring tide, <a href=\"#p{section}\">as was said</a>.</p>"
        );
    }
    text.push_str("<p>The end of the tables</p>");
    add(files, "/static", HTML, text);

    let mut page =
        String::from("<!doctype html><title>Scripts</title><h1>Rendered by scripts</h1><main></main>");
    for index in 0..SCRIPTS {
        let _ = write!(page, "<script src=\"/scripts/{index}.js\"></script>");
        add(files, &format!("/scripts/{index}.js"), SCRIPT, script(index));
    }
    // The requests are sequential, and a timer adds the last text, as an input with a debounce timer would.
    page.push_str(
        "<script>(async () => {
            for (const name of ['one', 'two', 'three']) {
                const rows = await (await fetch(`/scripts/${name}.json`)).json();
                for (const row of rows) put('li', row);
            }
            setTimeout(put, 200, 'p', 'The end of ' + 'the scripts');
        })()</script>",
    );
    for name in ["one", "two", "three"] {
        let rows: Vec<String> = (0..50).map(|row| format!("\"row {row} of {name}\"")).collect();
        add(files, &format!("/scripts/{name}.json"), JSON, format!("[{}]", rows.join(",")));
    }
    add(files, "/scripts", HTML, page);
    add(files, "/hosts", HTML, multi_host_page());
    vec![
        Page { name: "static, 25 kB", path: "/static".to_owned(), expected: "The end of the tables" },
        Page { name: "24 scripts, 200 kB", path: "/scripts".to_owned(), expected: "The end of the scripts" },
        Page { name: "90 scripts of 30 hosts", path: "/hosts".to_owned(), expected: "The end of the hosts" },
    ]
}

/// Returns a page with scripts from many hosts: the loopback addresses that [`site`](super::site) listens on.
fn multi_host_page() -> String {
    let last = super::site::HOSTS - 1;
    format!(
        "<!doctype html><title>Hosts</title><h1>Scripts of others</h1><main></main><script>
            let left = 0;
            const done = () => {{ left -= 1; if (left === 0) put('p', 'The end of ' + 'the hosts'); }};
            for (let host = 2; host <= {last}; host += 1) {{
                for (let at = 0; at < 3; at += 1) {{
                    const script = document.createElement('script');
                    script.src = `http://127.0.0.${{host}}:${{location.port}}/scripts/${{(host + at) % {SCRIPTS}}}.js?${{at}}`;
                    script.onload = script.onerror = done;
                    left += 1;
                    document.head.append(script);
                }}
            }}
        </script>"
    )
}

/// Returns a script that defines functions and adds rows to the page.
fn script(index: usize) -> String {
    let mut script = String::from(
        "globalThis.put = (name, text) => { const row = document.createElement(name); row.textContent = text; \
         document.querySelector('main').append(row); };\n",
    );
    for function in 0..FUNCTIONS {
        let _ = writeln!(
            script,
            "function f{index}_{function}(n) {{ let sum = {function}; for (let i = 0; i < n; i++) sum = (sum * 31 + i) % 65521; return sum; }}"
        );
    }
    let _ = writeln!(script, "for (let i = 0; i < 20; i++) put('p', 'row ' + f{index}_0(2000 + i));");
    script
}

/// Returns the pages of the applications in `built`, and adds their files.
pub(super) fn applications(built: &Path, files: &mut Files) -> Result<Vec<Page>> {
    let notes: Vec<String> = (1..=30)
        .map(|id| format!("{{\"id\":{id},\"title\":\"Note {id}\",\"text\":\"seen on day {id}\"}}"))
        .collect();
    let mut pages = Vec::new();
    for name in ["react", "vue", "svelte"] {
        add_folder(files, &built.join(name), &format!("/{name}"))?;
        add(files, &format!("/{name}/notes.json"), JSON, format!("[{}]", notes.join(",")));
        pages.push(Page { name, path: format!("/{name}/index.html"), expected: "seen on day 30" });
    }
    Ok(pages)
}

/// Adds all files of a folder below a path of the site.
fn add_folder(files: &mut Files, folder: &Path, path: &str) -> Result {
    for entry in fs::read_dir(folder)? {
        let entry = entry?.path();
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = format!("{path}/{name}");
        if entry.is_dir() {
            add_folder(files, &entry, &path)?;
            continue;
        }
        let media_type = match entry.extension().and_then(|extension| extension.to_str()) {
            Some("html") => HTML,
            Some("js") => SCRIPT,
            Some("css") => "text/css",
            _ => "application/octet-stream",
        };
        files.insert(path, File { media_type, bytes: fs::read(&entry)? });
    }
    Ok(())
}

fn add(files: &mut Files, path: &str, media_type: &'static str, text: String) {
    files.insert(path.to_owned(), File { media_type, bytes: text.into_bytes() });
}
