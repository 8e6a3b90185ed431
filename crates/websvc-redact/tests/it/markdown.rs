//! Tests of the redaction of markdown.

use websvc_redact::{Options, ReplacementStyle, Syntax, redact};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(redact(text, Syntax::Markdown, &Options::default()).text, expected);
}

#[test]
fn headings_lists_tables_and_emphasis_stay() {
    check(
        "# Ask Jane Doe\n\n- **Jane Doe**\n- *a@a.test*\n",
        "# Ask <PERSON>\n\n- **<PERSON>**\n- *<EMAIL>*\n",
    );
    check(
        "| Dr. Jane Doe | Berlin | a@a.test |\n|---|---|---|\n| x | +49 30 901820 | y |\n",
        "| Dr. <PERSON> | <LOCATION> | <EMAIL> |\n|---|---|---|\n| x | <PHONE> | y |\n",
    );
    check("> Jane Doe\n> Berlin", "> <PERSON>\n> <LOCATION>");
}

#[test]
fn only_secrets_are_redacted_in_code() {
    check("`Jane Doe a@a.test`", "`Jane Doe a@a.test`");
    check("~~~\nDr. Jane Doe, Berlin\n~~~\nJane Doe", "~~~\nDr. Jane Doe, Berlin\n~~~\n<PERSON>");
    check(
        "```sh\nexport T=ghp_16C7e42F292c6912E7710c838347Ae178B4a\n```\n",
        "```sh\nexport T=<SECRET>\n```\n",
    );
    check("`` a`b@a.test `` c@a.test", "`` a`b@a.test `` <EMAIL>");
    check("an open ` and b@a.test\n\n` c@a.test", "an open ` and <EMAIL>\n\n` <EMAIL>");
}

#[test]
fn only_secrets_mail_and_telephone_are_redacted_in_urls() {
    check("[Berlin](https://a.test/Jane_Doe/Berlin)", "[<LOCATION>](https://a.test/Jane_Doe/Berlin)");
    check("![Jane Doe](https://a.test/jane@a.test.png)", "![<PERSON>](https://a.test/jane@a.test.png)");
    check(
        "[x](mailto:a@a.test?subject=Hi) [y](tel:+4930901820)",
        "[x](mailto:<EMAIL>?subject=Hi) [y](tel:<PHONE>)",
    );
    check("<https://a.test/a@a.test> <a@a.test>", "<https://a.test/a@a.test> <EMAIL>");
    check(
        "https://a.test/Berlin, www.a.test/Paris and Rome",
        "https://a.test/Berlin, www.a.test/Paris and <LOCATION>",
    );
    check("[x](https://u:pass1word@a.test/)", "[x](https://u:<SECRET>@a.test/)");
    check("[r]: https://a.test/Berlin", "[r]: https://a.test/Berlin");
}

#[test]
fn plain_text_has_no_code() {
    let redaction = redact("`a@a.test` https://a.test/b@a.test", Syntax::Plain, &Options::default());
    assert_eq!(redaction.text, "`<EMAIL>` https://a.test/b@a.test");
}

#[test]
fn styles_are_a_tag_as_many_stars_or_nothing() {
    let text = "Ask Jürgen Müller: j@a.test!";
    for (style, expected) in [
        (ReplacementStyle::Tag, "Ask <PERSON>: <EMAIL>!"),
        (ReplacementStyle::Mask, "Ask *************: ********!"),
        (ReplacementStyle::Remove, "Ask : !"),
    ] {
        let options = Options { style, ..Options::default() };
        assert_eq!(redact(text, Syntax::Markdown, &options).text, expected);
    }
}

#[test]
fn repetition_of_a_finding_is_found() {
    check("Dr. Xochitl Quetzal\n\nXochitl Quetzal wins", "Dr. <PERSON>\n\n<PERSON> wins");
    check("Tel. 1234567 or 1234567", "Tel. <PHONE> or <PHONE>");
}

#[test]
fn more_certain_kind_wins_for_overlapping_findings() {
    check("jane.doe@berlin.example.com", "<EMAIL>");
    check("Phone 4111 1111 1111 1111", "Phone <FINANCIAL>");
    check("Mary London and Berlin Street", "<PERSON> and <LOCATION> Street");
}
