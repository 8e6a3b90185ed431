//! One line per rule of the query language: text, tree, number of warnings.

use websvc_query::{Node, Operator, Term, parse};

/// Writes a tree as an unambiguous S-expression.
fn shape(node: &Node) -> String {
    let list = |name: &str, children: &[Node]| {
        format!("({name} {})", children.iter().map(shape).collect::<Vec<_>>().join(" "))
    };
    match node {
        Node::And(children) => list("and", children),
        Node::Or(children) => list("or", children),
        Node::Not(child) => format!("(not {})", shape(child)),
        Node::Word(text) => text.clone(),
        Node::Phrase(text) => format!("{text:?}"),
        Node::Operator(operator) => match operator {
            Operator::Site(site) => format!("(site {} {:?} {:?})", site.host, site.port, site.path),
            Operator::FileType(extension) => format!("(filetype {extension})"),
            Operator::InUrl(term) => format!("(inurl {})", term_shape(term)),
            Operator::AllInUrl(terms) => format!("(allinurl {})", terms_shape(terms)),
            Operator::InTitle(term) => format!("(intitle {})", term_shape(term)),
            Operator::AllInTitle(terms) => format!("(allintitle {})", terms_shape(terms)),
            Operator::Related(host) => format!("(related {host})"),
            Operator::ImageSize(size) => format!("(imagesize {} {})", size.width, size.height),
            Operator::Larger(size) => format!("(larger {} {})", size.width, size.height),
        },
    }
}

fn term_shape(term: &Term) -> String {
    match term {
        Term::Word(text) => text.clone(),
        Term::Phrase(text) => format!("{text:?}"),
    }
}

fn terms_shape(terms: &[Term]) -> String {
    terms.iter().map(term_shape).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(text: &str, expected: &str, warnings: usize) {
    let parsed = parse(text);
    assert_eq!(parsed.query.root().map_or_else(String::new, shape), expected, "tree of {text:?}");
    assert_eq!(parsed.warnings.len(), warnings, "warnings of {text:?}: {:?}", parsed.warnings);
    let printed = parsed.query.to_string();
    assert_eq!(parse(&printed).query, parsed.query, "{text:?} printed as {printed:?}");
}

#[test]
fn words_and_phrases_stand_side_by_side() {
    check("", "", 0);
    check(" \t\u{3000} ", "", 0);
    check("rust", "rust", 0);
    check("rust async  book", "(and rust async book)", 0);
    check("\"context manager\"", "\"context manager\"", 0);
    check("a \"b  c\td \" e", "(and a \"b c d\" e)", 0);
    check("\u{201c}smart quotes\u{201d}", "\"smart quotes\"", 0);
    check("say\"hello world\"now", "(and say \"hello world\" now)", 0);
    check("\"\" a \"  \"", "a", 0);
    check("C++ std::vec foo:bar 3.11", "(and C++ std::vec foo:bar 3.11)", 0);
    check("東京　ラーメン", "(and 東京 ラーメン)", 0);
}

#[test]
fn a_dash_negates_only_what_it_touches() {
    check("jaguar -car", "(and jaguar (not car))", 0);
    check("-\"used cars\"", "(not \"used cars\")", 0);
    check("-site:example.com", "(not (site example.com None None))", 0);
    check("-(a b)", "(not (and a b))", 0);
    check("-(a OR b)", "(not (or a b))", 0);
    check("-(-a)", "a", 0);
    check("a - b", "(and a b)", 0);
    check("git --help", "(and git --help)", 0);
    check("well-known e-mail", "(and well-known e-mail)", 0);
    check("a -", "a", 0);
    check("a -\"\" b", "(and a b)", 0);
    check("-()", "", 0);
    check("(-)", "", 0);
    check("-(--x)", "(not --x)", 0);
    check("--x -- ---", "(and --x -- ---)", 0);
    check("\u{ff0d}a -(\u{ff0d}-b)", "(and (not a) (not \u{ff0d}-b))", 0);
}

#[test]
fn or_binds_closer_than_standing_side_by_side() {
    check("a OR b", "(or a b)", 0);
    check("a OR b OR c", "(or a b c)", 0);
    check("a | b", "(or a b)", 0);
    check("a b OR c d", "(and a (or b c) d)", 0);
    check("(a b) OR c", "(or (and a b) c)", 0);
    check("a OR -b", "(or a (not b))", 0);
    check(
        "site:a.com OR site:b.com -filetype:pdf \"exact phrase\"",
        "(and (or (site a.com None None) (site b.com None None)) (not (filetype pdf)) \"exact phrase\")",
        0,
    );
    check("a or b", "(and a or b)", 0);
}

#[test]
fn or_without_operands_is_a_word() {
    check("OR", "or", 0);
    check("OR a", "(and or a)", 0);
    check("portland OR", "(and portland or)", 0);
    check("a OR OR b", "(or a b)", 0);
    check("(a OR) b", "(and a or b)", 0);
    check("-OR", "(not or)", 0);
    check("\"OR\"", "\"OR\"", 0);
    check("a OR ()", "(and a or)", 0);
    check("a OR \"\"", "(and a or)", 0);
    check("OR OR a", "(and or a)", 0);
    check("a OR -\"\" OR b", "(or a b)", 0);
    check("a | OR b", "(or a b)", 0);
    check("-OR x", "(and (not or) x)", 0);
    check("a|b AND Or c", "(and a|b AND Or c)", 0);
}

#[test]
fn groups_nest_and_flatten() {
    check("(a)", "a", 0);
    check("((a b) c)", "(and a b c)", 0);
    check("(a OR (b OR c))", "(or a b c)", 0);
    check("f(x)", "(and f x)", 0);
    check("()", "", 0);
}

#[test]
fn unbalanced_quotes_and_parentheses_are_ignored() {
    check("5\" disk", "(and 5 disk)", 0);
    check("\"context manager", "(and context manager)", 0);
    check("\"a b\" c \"d", "(and \"a b\" c d)", 0);
    check("-\" foo", "foo", 0);
    check("(a b", "(and a b)", 0);
    check("a) b", "(and a b)", 0);
    check(")))", "", 0);
}

#[test]
fn operators_take_their_argument() {
    check("site:Docs.Python.org", "(site docs.python.org None None)", 0);
    check("SITE:example.com", "(site example.com None None)", 0);
    check("site:example.com/docs/", "(site example.com None Some(\"/docs\"))", 0);
    check("site:https://example.com:8080/a", "(site example.com Some(8080) Some(\"/a\"))", 0);
    check("site:*.gov", "(site gov None None)", 0);
    check("site:.gov.uk", "(site gov.uk None None)", 0);
    check("site:bücher.example", "(site xn--bcher-kva.example None None)", 0);
    check("site: example.com x", "(and (site example.com None None) x)", 0);
    check("filetype:PDF", "(filetype pdf)", 0);
    check("filetype:.tar", "(filetype tar)", 0);
    check("ext:md", "(filetype md)", 0);
    check("inurl:login", "(inurl login)", 0);
    check("intitle:\"release notes\"", "(intitle \"release notes\")", 0);
    check("intitle:a b", "(and (intitle a) b)", 0);
    check("related:Example.com", "(related example.com)", 0);
    check("imagesize:1920x1080", "(imagesize 1920 1080)", 0);
    check("larger:800X600", "(larger 800 600)", 0);
    check("-inurl:tag -intitle:draft", "(and (not (inurl tag)) (not (intitle draft)))", 0);
}

#[test]
fn all_operators_take_the_words_that_follow() {
    check("allintitle: python release notes", "(allintitle python release notes)", 0);
    check("allinurl:docs api", "(allinurl docs api)", 0);
    check("allintitle:\"a b\" c", "(allintitle \"a b\" c)", 0);
    check("allintitle:a b -c d", "(and (allintitle a b) (not c) d)", 0);
    check("allintitle:a site:x.org", "(and (allintitle a) (site x.org None None))", 0);
    check("(allintitle:a) b", "(and (allintitle a) b)", 0);
    check("-(allintitle:a) b", "(and (not (allintitle a)) b)", 0);
    check("(c OR allintitle:a) b OR d", "(and (or c (allintitle a)) (or b d))", 0);
    check("allintitle:a OR b", "(or (allintitle a) b)", 0);
}

#[test]
fn a_bad_argument_becomes_plain_words_and_a_warning() {
    check("site:", "site", 1);
    check("site: ???", "(and site ???)", 1);
    check("site:a..b", "site:a..b", 1);
    check("site:host:port", "site:host:port", 1);
    check("site:\"two words\"", "\"two words\"", 1);
    check("-site:\"two words\"", "(not \"two words\")", 1);
    check("filetype:p/df", "filetype:p/df", 1);
    check("imagesize:big", "imagesize:big", 1);
    check("imagesize:0x10", "imagesize:0x10", 1);
    check("larger:99999999999x1", "larger:99999999999x1", 1);
    check("imagesize:+1x+1", "imagesize:+1x+1", 1);
    check("intitle: -x", "(and intitle (not x))", 1);
    check("allintitle:", "allintitle", 1);
    check("inurl:\"\" x", "(and inurl x)", 1);
    check("inurl: \"\" x", "(inurl x)", 0);
}

#[test]
fn a_warning_names_operator_and_argument() {
    let warnings = parse("imagesize:big").warnings;
    assert_eq!(
        warnings,
        ["\"imagesize:big\" was searched as plain words: the operator needs a size such as 1920x1080"]
    );
}

#[test]
fn words_are_the_positive_ones_in_order() {
    let words = |text: &str| parse(text).query.words().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words("a \"b c\" -d (e OR -f g) site:h.org intitle:i"), ["a", "b c", "e", "g", "i"]);
    assert_eq!(words("-(a b) allintitle:x \"y z\""), ["x", "y z"]);
    assert_eq!(words(""), Vec::<String>::new());
}

#[test]
fn nesting_is_bounded() {
    let deep = format!("{}a b{} c", "(x OR (".repeat(5_000), "))".repeat(5_000));
    let query = parse(&deep).query;
    assert_eq!(parse(&query.to_string()).query, query);
    fn depth(node: &Node) -> usize {
        match node {
            Node::And(children) | Node::Or(children) => 1 + children.iter().map(depth).max().unwrap_or(0),
            Node::Not(child) => 1 + depth(child),
            Node::Word(_) | Node::Phrase(_) | Node::Operator(_) => 1,
        }
    }
    let depth = query.root().map_or(0, depth);
    assert!(depth <= 3 * websvc_query::MAX_DEPTH, "{depth}");
}
