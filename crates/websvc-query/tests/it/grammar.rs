//! Cases for each rule of the query language: text, tree, number of warnings.

use websvc_query::{Node, Operator, Term, parse};

/// Prints a tree as an unambiguous S-expression.
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
fn adjacent_words_and_phrases_form_a_conjunction() {
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
    check("http://x 12:30 re:zero foo: :", "(and http://x 12:30 re:zero foo: :)", 0);
    check("+a ~b c* #d @e", "(and +a ~b c* #d @e)", 0);
    check("it's \u{ab}quoted\u{bb} \u{2018}x\u{2019}", "(and it's \u{ab}quoted\u{bb} \u{2018}x\u{2019})", 0);
    check("\u{201e}a b\u{201c} \u{ff02}c\u{ff02}", "(and \"a b\" \"c\")", 0);
    check("\"(a OR -b) site:c.org\"", "\"(a OR -b) site:c.org\"", 0);
}

#[test]
fn invisible_characters_are_removed_or_separate_words() {
    check("\u{feff}so\u{ad}ft \u{202e}a\u{202c}\u{2060}b", "(and soft ab)", 0);
    check("site:\u{200e}example.com", "(site example.com None None)", 0);
    check("a\u{200b}b\u{0}c\u{85}d\u{2028}e", "(and a b c d e)", 0);
    check("\"a\u{7}b\u{200b}\u{ad}c\"", "\"a b c\"", 0);
    check("\"\u{ad}\" \u{200b}", "", 0);
    check("\u{645}\u{6cc}\u{200c}\u{62e}", "\u{645}\u{6cc}\u{200c}\u{62e}", 0);
}

#[test]
fn full_width_punctuation_counts_as_punctuation() {
    check("\u{ff08}a OR b\u{ff09}c", "(and (or a b) c)", 0);
    check("\u{ff0d}site\u{ff1a}a.org", "(not (site a.org None None))", 0);
    check("re\u{ff1a}zero a\u{ff0d}b", "(and re\u{ff1a}zero a\u{ff0d}b)", 0);
}

#[test]
fn dash_negates_only_the_operand_directly_after_it() {
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
fn or_binds_tighter_than_conjunction() {
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
fn or_in_a_text_of_capitals_is_a_word() {
    check("TO BE OR NOT TO BE", "(and TO BE or NOT TO BE)", 0);
    check("READ OR OR WRITE 2024", "(and READ or or WRITE 2024)", 0);
    check("ÜBER OR UNTER", "(and ÜBER or UNTER)", 0);
    check("NASA | ESA", "(or NASA ESA)", 0);
    check("NASA OR ESA missions", "(and (or NASA ESA) missions)", 0);
    check("2024 OR 2025", "(or 2024 2025)", 0);
    check("東京 OR 大阪", "(or 東京 大阪)", 0);
    for (text, expected) in [
        ("(A OR B)", "(or A B)"),
        ("A OR \"B C\"", "(or A \"B C\")"),
        ("A OR -B", "(or A (not B))"),
        ("A OR B | C", "(or A B C)"),
        ("SITE:A.ORG OR SITE:B.ORG", "(or (site a.org None None) (site b.org None None))"),
    ] {
        check(text, expected, 0);
    }
    assert_eq!(parse("A | B").query.to_string(), "A | B");
    assert_eq!(parse("a | B").query.to_string(), "a OR B");
}

#[test]
fn dash_before_a_number_is_a_minus_sign() {
    check("-80 °C", "(and −80 °C)", 1);
    check("freezer at -80°C", "(and freezer at −80°C)", 1);
    check("(-3.5 V) -2 -40% -20dB", "(and −3.5 V −2 −40% −20dB)", 4);
    check("allintitle:a -80", "(allintitle a −80)", 1);
    check("\u{ff0d}80", "−80", 1);
    check("−80 °C", "(and −80 °C)", 0);
    assert_eq!(
        parse("x -2024").warnings,
        ["\"-2024\" was searched as a negative number; to exclude the number, write -\"2024\""]
    );
}

#[test]
fn number_is_excluded_if_the_query_says_so() {
    check("x -\"80\"", "(and x (not \"80\"))", 0);
    check("x -(80)", "(and x (not 80))", 0);
    check("tea -milk -2024", "(and tea (not milk) (not 2024))", 0);
    check("tea -2024 -site:a.org", "(and tea (not 2024) (not (site a.org None None)))", 0);
    check("movie -3d -7zip -4K", "(and movie (not 3d) (not 7zip) (not 4K))", 0);
    check("\"a -b\" -80", "(and \"a -b\" −80)", 1);
    check("10-80 a-5", "(and 10-80 a-5)", 0);
    check("a - 80 --80", "(and a 80 --80)", 0);
    assert_eq!(parse("x -(80)").query.to_string(), "x -(80)");
}

#[test]
fn nested_groups_are_flattened() {
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
fn operators_parse_their_argument() {
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
    check("larger:800\u{d7}0600", "(larger 800 600)", 0);
    check("imagesize:1*4294967295", "(imagesize 1 4294967295)", 0);
    check("imagesize:\"1x2\" filetype: \"PDF\"", "(and (imagesize 1 2) (filetype pdf))", 0);
    check("related:\"a.org\" related:https://b.org/c", "(and (related a.org) (related b.org))", 0);
    check("inurl:a:b intitle:c\"d e\"", "(and (inurl a:b) (intitle c) \"d e\")", 0);
    check("intitle:site:x intitle:-x", "(and (intitle site:x) (intitle -x))", 0);
    check("-inurl:tag -intitle:draft", "(and (not (inurl tag)) (not (intitle draft)))", 0);
}

#[test]
fn site_argument_is_a_host_with_optional_port_and_path() {
    let site = |text: &str, expected: &str| check(&format!("site:{text}"), &format!("(site {expected})"), 0);
    site("gov", "gov None None");
    site("*.Example.COM.", "example.com None None");
    site("example.com/*", "example.com None None");
    site("example.com/a/*", "example.com None Some(\"/a\")");
    site("HTTPS://example.com/A/?q=1#f", "example.com None Some(\"/A\")");
    site("example.com?q", "example.com None None");
    site("example.com:", "example.com None None");
    site("example.com:443/a", "example.com None Some(\"/a\")");
    site("localhost:3000", "localhost Some(3000) None");
    site("127.0.0.1", "127.0.0.1 None None");
    site("a_b.example", "a_b.example None None");
    site("STRASSE.example", "strasse.example None None");
    site("bücher.example", "xn--bcher-kva.example None None");
    site("xn--bcher-kva.example", "xn--bcher-kva.example None None");
    site("例え\u{3002}jp", "xn--r8jz45g.jp None None");
    site("\"example.com\"", "example.com None None");
    site("\"en.example.org/wiki/Rust_(language)\"", "en.example.org None Some(\"/wiki/Rust_(language)\")");
    site(&format!("{}.org", "a".repeat(63)), &format!("{}.org None None", "a".repeat(63)));
    let (longest, longer) = ("a23456789.".repeat(25) + "abc", "a23456789.".repeat(25) + "abcd");
    site(&longest, &format!("{longest} None None"));
    for bad in [
        "???",
        "a..b",
        "host:port",
        "a.org:65536",
        "a.org:+80",
        "a.org/*/b",
        "a.org/b*",
        "[::1]",
        "u@a.org",
        "ftp://a.org",
        "http:/a.org",
        "http://",
        "/a",
        "*",
        "3.11",
        "1.2.3.4.5",
        "a.0x1",
        "-a.org",
        "a-.org",
        "a.org,",
        "xn--a.org",
        "\u{fdfa}.org",
        &longer,
        &format!("{}.org", "a".repeat(64)),
    ] {
        check(&format!("site:{bad}"), &format!("site:{bad}"), 1);
    }
}

#[test]
fn site_argument_after_a_space_needs_a_dot() {
    check("site: a.org b", "(and (site a.org None None) b)", 0);
    check("related: a.org", "(related a.org)", 0);
    check("the official site: rust book", "(and the official site rust book)", 1);
    check("filetype: pdf imagesize: 1x2 intitle: a", "(and (filetype pdf) (imagesize 1 2) (intitle a))", 0);
    check("site: site:a.org", "(and site (site a.org None None))", 1);
    check("site: OR a", "(or site a)", 1);
    check("site: (a.org OR b.org)", "(and site (or a.org b.org))", 1);
}

#[test]
fn negated_operator_without_argument_is_ignored_with_a_warning() {
    check("-site:", "", 1);
    check("a -site: b", "(and a b)", 1);
    check("a -intitle:\"\" b", "(and a b)", 1);
    check("-inurl:(a)", "a", 1);
    check("a OR -site:", "(and a or)", 1);
    check("-site:???", "(not site:???)", 1);
    assert_eq!(
        parse("-Ext: ???").warnings,
        ["the operator \"-Ext:\" was ignored: it needs a file extension of 1 to 12 letters and digits"]
    );
}

#[test]
fn all_operators_include_the_following_words() {
    check("allintitle: python release notes", "(allintitle python release notes)", 0);
    check("allinurl:docs api", "(allinurl docs api)", 0);
    check("allintitle:\"a b\" c", "(allintitle \"a b\" c)", 0);
    check("allintitle:a b -c d", "(and (allintitle a b) (not c) d)", 0);
    check("allintitle:a site:x.org", "(and (allintitle a) (site x.org None None))", 0);
    check("(allintitle:a) b", "(and (allintitle a) b)", 0);
    check("-(allintitle:a) b", "(and (not (allintitle a)) b)", 0);
    check("(c OR allintitle:a) b OR d", "(and (or c (allintitle a)) (or b d))", 0);
    check("allintitle:a OR b", "(or (allintitle a) b)", 0);
    check("allintitle:a (b) c", "(and (allintitle a) b c)", 0);
    check("allintitle:a () - \"\" b", "(allintitle a b)", 0);
    check("allintitle:a site: site:? b", "(allintitle a site site:? b)", 2);
    check("allintitle:a allinurl:b c", "(and (allintitle a) (allinurl b c))", 0);
    check("-allintitle:a b", "(not (allintitle a b))", 0);
    check("allintitle: (a b)", "(and allintitle a b)", 1);
}

#[test]
fn invalid_argument_becomes_plain_words_and_a_warning() {
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
fn warning_names_operator_and_argument() {
    let warnings = parse("imagesize:big").warnings;
    assert_eq!(
        warnings,
        [
            "\"imagesize:big\" was searched as plain words: the operator needs a size in pixels such as 1920x1080"
        ]
    );
}

#[test]
fn warning_shows_names_as_typed_and_truncates_long_arguments() {
    let expected = "a host name, optionally with a port and a path";
    assert_eq!(
        parse("SITE: x -site:\"a  b\"").warnings,
        [
            format!("the operator \"SITE:\" was searched as a plain word: it needs {expected}"),
            format!("\"site:a b\" was excluded as plain words: the operator needs {expected}"),
        ]
    );
    let long = &parse(&format!("site:{}", "?".repeat(400))).warnings[0];
    assert!(long.starts_with(&format!("\"site:{}…\" was", "?".repeat(55))), "{long}");
}

#[test]
fn words_returns_positive_terms_in_order() {
    let words = |text: &str| parse(text).query.words().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words("a \"b c\" -d (e OR -f g) site:h.org intitle:i"), ["a", "b c", "e", "g", "i"]);
    assert_eq!(words("-(a b) allintitle:x \"y z\""), ["x", "y z"]);
    assert_eq!(words(""), Vec::<String>::new());
}

#[test]
fn depth_of_the_tree_is_bounded() {
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
