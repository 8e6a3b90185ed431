//! The elements of TEI, the format of editions and corpora.

use super::{Action, is_within, parent};
use crate::xml::Tag;

pub(super) fn action(tag: &Tag, parents: &[String]) -> Action {
    let is_content =
        is_within(parents, "abstract") || is_within(parents, "titleStmt") && is_within(parents, "title");
    if is_within(parents, "teiHeader") && !is_content {
        return header(tag, parents);
    }
    let outer = parent(parents);
    match tag.name.as_str() {
        "abstract" => Action::TitledSection("Abstract"),
        "div" if tag.get("type") == Some("references") => Action::TitledSection("References"),
        "div" | "div1" | "div2" | "div3" | "div4" | "div5" | "div6" | "div7" => Action::Section,
        "head" => Action::Title,
        "docTitle" | "titlePart" => Action::Element("strong"),
        "ab" if tag.get("type").is_some_and(|kind| kind.starts_with("codeblock")) => Action::Code,
        "seg" if tag.get("type") == Some("code") => Action::Element("code"),
        "p" | "ab" | "opener" | "closer" | "salute" | "signed" | "trailer" | "dateline" | "byline"
        | "epigraph" | "docAuthor" | "docImprint" | "argument" => Action::Paragraph,
        "lg" => Action::Element("p"),
        "l" => Action::Break,
        "sp" => Action::Content,
        "speaker" => Action::Element("strong"),
        "stage" => Action::Element("em"),
        "list"
            if tag.get("type").is_some_and(|kind| kind.starts_with("ordered") || kind == "numbered")
                || tag.get("rend") == Some("numbered") =>
        {
            Action::OrderedList
        }
        "list" if matches!(tag.get("type"), Some("gloss" | "definition")) => Action::Element("dl"),
        "list" | "listBibl" => Action::List,
        "label" if outer == "list" => Action::Element("dt"),
        "item" | "bibl" if outer == "list" || outer == "listBibl" => Action::Item,
        "biblStruct" => Action::Citation,
        "quote" | "q" | "cit"
            if matches!(outer, "body" | "div" | "div1" | "div2" | "div3" | "front" | "back" | "cit") =>
        {
            Action::Quote
        }
        "q" | "quote" | "soCalled" => Action::Element("q"),
        "hi" => highlight(tag),
        "emph" | "foreign" | "title" | "mentioned" => Action::Element("em"),
        "code" | "ident" | "gi" => Action::Element("code"),
        "eg" | "egXML" => Action::Code,
        "ref" => Action::Link("target"),
        "note" => Action::Note,
        "table" => Action::Element("table"),
        "row" => Action::Element("tr"),
        "cell" if tag.get("role") == Some("label") => Action::Cell("th", "cols", "rows"),
        "cell" => Action::Cell("td", "cols", "rows"),
        "figure" => Action::Element("figure"),
        "figDesc" => Action::Paragraph,
        "graphic" => Action::Image("url"),
        "formula"
            if tag.get("notation").is_none_or(|notation| notation.to_ascii_lowercase().contains("tex")) =>
        {
            Action::Latex
        }
        "math" => Action::Math,
        "lb" | "pb" | "cb" => Action::Space,
        "gap" => Action::Text("[…]"),
        // Of an original and its correction, the corrected text counts.
        "sic" | "orig" | "abbr" if outer == "choice" => Action::Skip,
        "del" | "fw" | "facsimile" | "sourceDoc" | "standOff" | "index" => Action::Skip,
        _ => Action::Content,
    }
}

/// Returns the treatment of the elements of the header.
fn header(tag: &Tag, parents: &[String]) -> Action {
    match tag.name.as_str() {
        "abstract" => Action::TitledSection("Abstract"),
        "fileDesc" | "titleStmt" | "profileDesc" => Action::Content,
        "title" if parent(parents) == "titleStmt" => Action::MainTitle,
        "author" if parent(parents) == "titleStmt" => Action::Author,
        "author" if is_within(parents, "sourceDesc") => Action::Author,
        "sourceDesc" | "biblStruct" | "analytic" | "persName" | "forename" | "surname" | "roleName"
        | "name" => Action::Content,
        _ => Action::Skip,
    }
}

fn highlight(tag: &Tag) -> Action {
    let rend = tag.get("rend").or_else(|| tag.get("rendition")).unwrap_or_default().to_ascii_lowercase();
    let has = |name: &str| rend.contains(name);
    match () {
        () if has("bold") => Action::Element("strong"),
        () if has("sup") => Action::Element("sup"),
        () if has("sub") => Action::Element("sub"),
        () if has("strike") => Action::Element("del"),
        () if has("tt") || has("mono") || has("code") => Action::Element("code"),
        () if has("ital") => Action::Element("em"),
        () => Action::Content,
    }
}
