//! Converts formulas of Office (OMML) to LaTeX.
//!
//! A formula is a tree of arguments (`e`, `num`, `sup`, ...) in structures (`f`, `sSup`, `nary`, ...). The properties of
//! a structure come before its arguments. Symbols are kept: LaTeX renderers support Unicode.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::xml::Xml;

/// The maximum length of a formula in bytes; what follows is left out.
const MAX_BYTES: usize = 20_000;

/// Functions for which LaTeX has a command with their name.
const FUNCTIONS: [&str; 27] = [
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim", "exp",
    "gcd", "inf", "lg", "lim", "ln", "log", "max", "min", "sec", "sin", "sinh", "sup", "tan", "tanh",
];

/// Reads the formula whose start tag was read last, and returns it in LaTeX.
pub(crate) fn read(xml: &mut Xml<'_>) -> Result<String, DocumentError> {
    let latex = content(xml, "oMath")?;
    Ok(latex.trim().to_owned())
}

/// A structure: its properties and its arguments by name.
#[derive(Default)]
struct Structure {
    /// The values of the properties by name, such as `chr` of `naryPr`.
    properties: HashMap<String, String>,
    arguments: Vec<(String, String)>,
}

impl Structure {
    fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    fn is_on(&self, name: &str) -> bool {
        self.property(name).is_some_and(|value| !matches!(value, "0" | "off" | "false"))
    }

    fn argument(&self, name: &str) -> &str {
        self.arguments.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.trim())
    }

    fn all(&self, name: &str) -> Vec<&str> {
        self.arguments.iter().filter(|(key, _)| key == name).map(|(_, value)| value.trim()).collect()
    }
}

/// Reads the content of an element up to its end.
fn content(xml: &mut Xml<'_>, element: &str) -> Result<String, DocumentError> {
    let mut latex = String::new();
    while let Some(tag) = xml.start_in(element)? {
        let piece = match tag.name.as_str() {
            "r" => run(xml)?,
            "t" => text(&xml.text()?),
            "f" | "rad" | "nary" | "d" | "m" | "eqArr" | "sSup" | "sSub" | "sSubSup" | "sPre" | "func"
            | "acc" | "bar" | "groupChr" | "limLow" | "limUpp" | "borderBox" | "box" | "phant" => {
                let structure = structure(xml, &tag.name)?;
                written(&tag.name, &structure)
            }
            "rPr" | "ctrlPr" | "argPr" | "del" | "moveFrom" => {
                xml.skip()?;
                String::new()
            }
            _ => content(xml, &tag.name)?,
        };
        if latex.len() + piece.len() <= MAX_BYTES {
            push(&mut latex, &piece);
        }
    }
    Ok(latex)
}

/// Appends a piece of LaTeX, with a space where a command would run into a letter.
fn push(latex: &mut String, piece: &str) {
    let ends_in_command = latex.rfind('\\').is_some_and(|at| {
        let name = &latex[at + 1..];
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    if ends_in_command && piece.starts_with(|first: char| first.is_ascii_alphabetic()) {
        latex.push(' ');
    }
    latex.push_str(piece);
}

/// Reads a run of text. Words in normal style are text, not a product of variables.
fn run(xml: &mut Xml<'_>) -> Result<String, DocumentError> {
    let (mut latex, mut is_normal, mut alphabet) = (String::new(), false, None);
    while let Some(tag) = xml.start_in("r")? {
        match tag.name.as_str() {
            "nor" => is_normal = !matches!(tag.get("val"), Some("0" | "off" | "false")),
            "scr" | "sty" => alphabet = command_of_alphabet(tag.get("val")).or(alphabet),
            "t" => {
                let piece = xml.text()?;
                let has_words = piece.chars().filter(|character| character.is_alphabetic()).count() > 1;
                let piece = if is_normal && has_words {
                    format!("\\text{{{}}}", escaped(&piece))
                } else {
                    let letters = piece.chars().any(char::is_alphanumeric);
                    match alphabet.filter(|_| letters) {
                        Some(command) => format!("{command}{{{}}}", escaped(&piece)),
                        None => text(&piece),
                    }
                };
                push(&mut latex, &piece);
            }
            "delText" => xml.skip()?,
            _ => {}
        }
    }
    Ok(latex)
}

/// Returns the command for letters in another alphabet or in bold; `None` for those that are as usual.
fn command_of_alphabet(name: Option<&str>) -> Option<&'static str> {
    Some(match name? {
        "double-struck" => "\\mathbb",
        "script" => "\\mathcal",
        "fraktur" => "\\mathfrak",
        "sans-serif" => "\\mathsf",
        "monospace" => "\\mathtt",
        "b" => "\\mathbf",
        "bi" => "\\boldsymbol",
        _ => return None,
    })
}

/// Returns the text of a run with its special characters escaped.
fn text(text: &str) -> String {
    let trimmed = text.trim();
    if FUNCTIONS.contains(&trimmed) { format!("\\{trimmed} ") } else { escaped(text) }
}

fn escaped(text: &str) -> String {
    let mut latex = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '{' | '}' | '%' | '#' | '&' | '$' | '_' => {
                latex.push('\\');
                latex.push(character);
            }
            '\\' => latex.push_str("\\backslash "),
            // Invisible operators.
            '\u{2061}'..='\u{2064}' => {}
            '\u{a0}' => latex.push(' '),
            // The minus sign and the hyphen are the same operator.
            '\u{2212}' => latex.push('-'),
            _ => latex.push(character),
        }
    }
    latex
}

/// Reads the properties and the arguments of a structure.
fn structure(xml: &mut Xml<'_>, element: &str) -> Result<Structure, DocumentError> {
    let mut structure = Structure::default();
    let properties = format!("{element}Pr");
    let mut bytes = 0;
    while let Some(tag) = xml.start_in(element)? {
        if tag.name == properties {
            read_properties(xml, &properties, &mut structure)?;
        } else {
            let latex = if tag.name == "mr" { row(xml)? } else { content(xml, &tag.name)? };
            bytes += latex.len();
            if bytes <= MAX_BYTES {
                structure.arguments.push((tag.name, latex));
            }
        }
    }
    Ok(structure)
}

fn read_properties(xml: &mut Xml<'_>, element: &str, structure: &mut Structure) -> Result<(), DocumentError> {
    while let Some(tag) = xml.start_in(element)? {
        // A property without a value is on; a character without one is none.
        let default = match tag.name.as_str() {
            "ctrlPr" => {
                xml.skip()?;
                continue;
            }
            "chr" | "begChr" | "endChr" | "sepChr" => "",
            _ => "1",
        };
        structure.properties.insert(tag.name.clone(), tag.get("val").unwrap_or(default).to_owned());
    }
    Ok(())
}

/// Reads a row of a matrix.
fn row(xml: &mut Xml<'_>) -> Result<String, DocumentError> {
    let mut cells = Vec::new();
    while let Some(tag) = xml.start_in("mr")? {
        cells.push(content(xml, &tag.name)?.trim().to_owned());
    }
    Ok(cells.join(" & "))
}

/// Returns the LaTeX of a structure.
fn written(element: &str, structure: &Structure) -> String {
    let argument = |name| structure.argument(name);
    let base = argument("e");
    match element {
        "f" => fraction(structure),
        "rad" => match argument("deg") {
            degree if degree.is_empty() || structure.is_on("degHide") => format!("\\sqrt{{{base}}}"),
            degree => format!("\\sqrt[{degree}]{{{base}}}"),
        },
        "sSup" => format!("{}^{{{}}}", grouped(base), argument("sup")),
        "sSub" => format!("{}_{{{}}}", grouped(base), argument("sub")),
        "sSubSup" => format!("{}_{{{}}}^{{{}}}", grouped(base), argument("sub"), argument("sup")),
        "sPre" => format!("{{}}_{{{}}}^{{{}}}{base}", argument("sub"), argument("sup")),
        "nary" => nary(structure),
        "d" => delimited(structure),
        "m" => format!("\\begin{{matrix}}{}\\end{{matrix}}", structure.all("mr").join(" \\\\ ")),
        "eqArr" => format!(
            "\\begin{{aligned}}{}\\end{{aligned}}",
            structure.all("e").join(" \\\\ ").replace("\\&", "&")
        ),
        "func" => function(structure),
        "acc" => format!("{}{{{base}}}", accent(structure.property("chr").unwrap_or("\u{302}"))),
        "bar" if structure.property("pos") == Some("top") => format!("\\overline{{{base}}}"),
        "bar" => format!("\\underline{{{base}}}"),
        "groupChr" => grouping(structure),
        "limLow" => format!("{}_{{{}}}", grouped(base), argument("lim")),
        "limUpp" => format!("{}^{{{}}}", grouped(base), argument("lim")),
        "borderBox" => format!("\\boxed{{{base}}}"),
        "phant" if structure.property("show").is_some_and(|show| matches!(show, "0" | "off" | "false")) => {
            String::new()
        }
        _ => base.to_owned(),
    }
}

/// Returns the base of a script, in braces if it is more than one sign.
fn grouped(base: &str) -> String {
    let is_command =
        base.strip_prefix('\\').is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let is_fence = base.starts_with("\\left") || base.starts_with('{');
    if base.chars().count() <= 1 || is_command || is_fence { base.to_owned() } else { format!("{{{base}}}") }
}

fn fraction(structure: &Structure) -> String {
    let (over, under) = (structure.argument("num"), structure.argument("den"));
    match structure.property("type") {
        Some("lin" | "skw") => format!("{}/{}", grouped(over), grouped(under)),
        Some("noBar") => format!("\\genfrac{{}}{{}}{{0pt}}{{}}{{{over}}}{{{under}}}"),
        _ => format!("\\frac{{{over}}}{{{under}}}"),
    }
}

/// Returns a sum, product, integral or another operator with limits.
fn nary(structure: &Structure) -> String {
    let operator = structure.property("chr").unwrap_or("∫");
    let command = match operator {
        "∑" => "\\sum",
        "∏" => "\\prod",
        "∐" => "\\coprod",
        "∫" => "\\int",
        "∬" => "\\iint",
        "∭" => "\\iiint",
        "∮" => "\\oint",
        "⋃" => "\\bigcup",
        "⋂" => "\\bigcap",
        "⋁" => "\\bigvee",
        "⋀" => "\\bigwedge",
        "⨁" => "\\bigoplus",
        "⨂" => "\\bigotimes",
        other => other,
    };
    let mut latex = command.to_owned();
    for (name, hide, sign) in [("sub", "subHide", '_'), ("sup", "supHide", '^')] {
        let limit = structure.argument(name);
        if !limit.is_empty() && !structure.is_on(hide) {
            latex.push_str(&format!("{sign}{{{limit}}}"));
        }
    }
    latex.push(' ');
    latex.push_str(structure.argument("e"));
    latex
}

fn delimited(structure: &Structure) -> String {
    let begin = structure.property("begChr").unwrap_or("(");
    let end = structure.property("endChr").unwrap_or(")");
    let separator = structure.property("sepChr").unwrap_or("|");
    let parts = structure.all("e");
    if let [only] = parts.as_slice() {
        // A matrix, a binomial and cases have their delimiters in LaTeX.
        let rows = only.strip_prefix("\\begin{matrix}").and_then(|rows| rows.strip_suffix("\\end{matrix}"));
        let name = match (begin, end) {
            ("(", ")") => Some("pmatrix"),
            ("[", "]") => Some("bmatrix"),
            ("|", "|") => Some("vmatrix"),
            ("‖", "‖") => Some("Vmatrix"),
            _ => None,
        };
        if let (Some(rows), Some(name)) = (rows.filter(|rows| !rows.contains("\\begin{matrix}")), name) {
            return format!("\\begin{{{name}}}{rows}\\end{{{name}}}");
        }
        let lines =
            only.strip_prefix("\\begin{aligned}").and_then(|lines| lines.strip_suffix("\\end{aligned}"));
        if let (Some(lines), "{", "") =
            (lines.filter(|lines| !lines.contains("\\begin{aligned}")), begin, end)
        {
            return format!("\\begin{{cases}}{lines}\\end{{cases}}");
        }
        let binomial = only.strip_prefix("\\genfrac{}{}{0pt}{}").filter(|rest| !rest.contains("\\genfrac"));
        if let (Some(rest), "(", ")") = (binomial, begin, end) {
            return format!("\\binom{rest}");
        }
    }
    let inner = parts.join(&format!("\\middle{} ", fence(separator)));
    format!("\\left{}{inner}\\right{}", fence(begin), fence(end))
}

/// Returns a delimiter as it follows `\left` and `\right`.
fn fence(sign: &str) -> String {
    match sign {
        "" => ".".to_owned(),
        "{" => "\\{".to_owned(),
        "}" => "\\}".to_owned(),
        "⟨" | "〈" => "\\langle ".to_owned(),
        "⟩" | "〉" => "\\rangle ".to_owned(),
        "⌊" => "\\lfloor ".to_owned(),
        "⌋" => "\\rfloor ".to_owned(),
        "⌈" => "\\lceil ".to_owned(),
        "⌉" => "\\rceil ".to_owned(),
        "‖" => "\\| ".to_owned(),
        other => other.to_owned(),
    }
}

fn function(structure: &Structure) -> String {
    let name = structure.argument("fName");
    let base = structure.argument("e");
    let is_word = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let name = if is_word { format!("\\operatorname{{{name}}}") } else { name.to_owned() };
    let separator = if base.starts_with(['\\', '(']) { "" } else { " " };
    format!("{name}{separator}{base}")
}

fn accent(sign: &str) -> &'static str {
    match sign {
        "\u{300}" | "`" => "\\grave",
        "\u{301}" | "´" => "\\acute",
        "\u{303}" | "~" | "˜" => "\\tilde",
        "\u{304}" | "\u{305}" | "¯" | "\u{33f}" => "\\bar",
        "\u{306}" | "˘" => "\\breve",
        "\u{307}" | "˙" => "\\dot",
        "\u{308}" | "¨" => "\\ddot",
        "\u{20db}" => "\\dddot",
        "\u{30c}" | "ˇ" => "\\check",
        "\u{20d7}" | "→" => "\\vec",
        "\u{20d6}" | "←" => "\\overleftarrow",
        _ => "\\hat",
    }
}

/// Returns a base with a brace or an arrow over or under it.
fn grouping(structure: &Structure) -> String {
    let base = structure.argument("e");
    let is_top = structure.property("pos") == Some("top");
    match structure.property("chr").unwrap_or("⏟") {
        "⏞" => format!("\\overbrace{{{base}}}"),
        "⏟" => format!("\\underbrace{{{base}}}"),
        sign if is_top => format!("\\overset{{{sign}}}{{{base}}}"),
        sign => format!("\\underset{{{sign}}}{{{base}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::DocumentKind;

    fn latex(omml: &str) -> String {
        let text = format!("<m:oMath xmlns:m=\"m\">{omml}</m:oMath>");
        let mut xml = Xml::new(DocumentKind::Docx, &text);
        xml.next().unwrap();
        read(&mut xml).unwrap()
    }

    #[test]
    fn formulas_become_latex() {
        let r = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
        let e = |text: &str| format!("<m:e>{}</m:e>", r(text));
        let styled = |style: &str, text: &str| format!("<m:r><m:rPr>{style}</m:rPr><m:t>{text}</m:t></m:r>");
        for (omml, expected) in [
            (styled("<m:scr m:val=\"double-struck\"/><m:sty m:val=\"p\"/>", "R"), "\\mathbb{R}"),
            (styled("<m:scr m:val=\"fraktur\"/>", "g"), "\\mathfrak{g}"),
            (styled("<m:sty m:val=\"b\"/>", "v_1"), "\\mathbf{v\\_1}"),
            (styled("<m:sty m:val=\"b\"/>", "+"), "+"),
            (styled("<m:sty m:val=\"p\"/>", "sin"), "\\sin"),
            (format!("<m:f><m:num>{}</m:num><m:den>{}</m:den></m:f>", r("-b"), r("2a")), "\\frac{-b}{2a}"),
            (
                format!(
                    "<m:f><m:fPr><m:type m:val=\"lin\"/></m:fPr><m:num>{}</m:num><m:den>{}</m:den></m:f>",
                    r("a"),
                    r("b")
                ),
                "a/b",
            ),
            (
                format!("<m:rad><m:radPr><m:degHide m:val=\"1\"/></m:radPr><m:deg/>{}</m:rad>", e("x")),
                "\\sqrt{x}",
            ),
            (format!("<m:rad><m:deg>{}</m:deg>{}</m:rad>", r("3"), e("x")), "\\sqrt[3]{x}"),
            (format!("<m:sSup>{}<m:sup>{}</m:sup></m:sSup>", e("ab"), r("2")), "{ab}^{2}"),
            (
                format!(
                    "<m:sSubSup>{}<m:sub>{}</m:sub><m:sup>{}</m:sup></m:sSubSup>",
                    e("x"),
                    r("i"),
                    r("2")
                ),
                "x_{i}^{2}",
            ),
            (
                format!(
                    "<m:nary><m:naryPr><m:chr m:val=\"∑\"/></m:naryPr><m:sub>{}</m:sub><m:sup>{}</m:sup>{}</m:nary>",
                    r("i=0"),
                    r("n"),
                    e("i")
                ),
                "\\sum_{i=0}^{n} i",
            ),
            (
                format!(
                    "<m:nary><m:naryPr><m:supHide m:val=\"on\"/></m:naryPr><m:sub>{}</m:sub><m:sup/>{}</m:nary>",
                    r("C"),
                    e("f")
                ),
                "\\int_{C} f",
            ),
        ] {
            assert_eq!(latex(&omml), expected, "{omml}");
        }
    }

    #[test]
    fn delimiters_matrices_functions_and_accents_become_latex() {
        let r = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
        let e = |text: &str| format!("<m:e>{}</m:e>", r(text));
        for (omml, expected) in [
            (format!("<m:d>{}</m:d>", e("a+b")), "\\left(a+b\\right)"),
            (
                format!(
                    "<m:d><m:dPr><m:begChr m:val=\"{{\"/><m:endChr m:val=\"\"/></m:dPr><m:e><m:eqArr>{}{}</m:eqArr></m:e></m:d>",
                    e("a,"),
                    e("b")
                ),
                "\\begin{cases}a, \\\\ b\\end{cases}",
            ),
            (
                format!(
                    "<m:d><m:dPr><m:begChr m:val=\"[\"/><m:endChr m:val=\"]\"/></m:dPr><m:e><m:m><m:mr>{}{}</m:mr><m:mr>{}{}</m:mr></m:m></m:e></m:d>",
                    e("1"),
                    e("0"),
                    e("0"),
                    e("1")
                ),
                "\\begin{bmatrix}1 & 0 \\\\ 0 & 1\\end{bmatrix}",
            ),
            (format!("<m:func><m:fName>{}</m:fName>{}</m:func>", r("sin"), e("x")), "\\sin x"),
            (
                format!(
                    "<m:func><m:fName><m:limLow>{}<m:lim>{}</m:lim></m:limLow></m:fName>{}</m:func>",
                    e("lim"),
                    r("n→∞"),
                    e("a")
                ),
                "\\lim_{n→∞} a",
            ),
            (format!("<m:acc><m:accPr><m:chr m:val=\"\u{20d7}\"/></m:accPr>{}</m:acc>", e("v")), "\\vec{v}"),
            (format!("<m:bar><m:barPr><m:pos m:val=\"top\"/></m:barPr>{}</m:bar>", e("x")), "\\overline{x}"),
            ("<m:r><m:rPr><m:nor/></m:rPr><m:t>if x</m:t></m:r>".to_owned(), "\\text{if x}"),
            (r("50%"), "50\\%"),
        ] {
            assert_eq!(latex(&omml), expected, "{omml}");
        }
    }
}
