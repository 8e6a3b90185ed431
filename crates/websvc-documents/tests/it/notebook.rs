//! Tests of Jupyter notebooks.

use websvc_documents::{DocumentError, DocumentKind, Limits, parse};

fn html(notebook: &str) -> String {
    assert_eq!(
        DocumentKind::detect(notebook.as_bytes(), Some("application/json")),
        Some(DocumentKind::Ipynb)
    );
    parse(DocumentKind::Ipynb, notebook.as_bytes().to_vec(), &Limits::default()).unwrap().html
}

#[test]
fn cells_and_outputs_are_read() {
    let notebook = r##"{"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": [
        {"cell_type": "markdown", "source": ["# Tea\n", "Of *leaves* and $a^2$."]},
        {"cell_type": "code", "source": "print('<')", "outputs": [
            {"output_type": "stream", "text": ["\u001b[31m<\u001b[0m\n"]},
            {"output_type": "execute_result", "data": {"text/plain": "x", "text/html": ["<style>a</style><table><tr><td>1</td></tr></table><p>2</p>"]}},
            {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=\n", "text/plain": "<Figure>"}},
            {"output_type": "error", "ename": "E", "traceback": ["\u001b[0mE: no"]}]},
        {"cell_type": "code", "source": "%%bash\nls", "outputs": []},
        {"cell_type": "raw", "source": "raw"}]}"##;
    assert_eq!(
        html(notebook),
        "<h1>Tea</h1>\n<p>Of <em>leaves</em> and <math alttext=\"a^2\"><mtext>a^2</mtext></math>.</p>\n\
         <pre><code class=\"language-python\">print('&lt;')</code></pre>\n<pre><code>&lt;</code></pre>\n\
         <table><tr><td>1</td></tr></table>\n<p><img src=\"data:image/png;base64,iVBORw0KGgo=\" alt=\"Figure\"></p>\n\
         <pre><code>E: no</code></pre>\n<pre><code class=\"language-bash\">%%bash\nls</code></pre>\n<pre><code>raw</code></pre>\n"
    );
}

#[test]
fn older_notebooks_are_read() {
    let notebook = r#"{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "Tea"},
        {"cell_type": "code", "input": ["1 + 1"], "language": "python"}]}]}"#;
    assert_eq!(html(notebook), "<h2>Tea</h2>\n<pre><code class=\"language-python\">1 + 1</code></pre>\n");
}

#[test]
fn damaged_notebooks_are_errors() {
    for text in
        ["{\"cells\": [{\"cell_type\"], \"nbformat\"", &("{\"cells\":".to_owned() + &"[".repeat(100_000))]
    {
        let error = parse(DocumentKind::Ipynb, text.as_bytes().to_vec(), &Limits::default()).unwrap_err();
        assert!(matches!(error, DocumentError::Damaged { kind: DocumentKind::Ipynb, .. }), "{error}");
    }
}
