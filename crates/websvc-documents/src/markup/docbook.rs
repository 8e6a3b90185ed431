//! The elements of DocBook, versions 4 and 5.

use super::{Action, is_within, parent};
use crate::xml::Tag;

pub(super) fn action(tag: &Tag, parents: &[String]) -> Action {
    let name = tag.name.as_str();
    let in_info = parents.iter().any(|parent| parent.ends_with("info"));
    if in_info && let Some(action) = info(name, parents) {
        return action;
    }
    let outer = parent(parents);
    match name {
        "book" | "article" | "set" => Action::Content,
        "title" if matches!(outer, "book" | "article" | "set") => Action::MainTitle,
        "part" | "chapter" | "appendix" | "preface" | "section" | "simplesect" | "dedication"
        | "colophon" | "refentry" | "sect1" | "sect2" | "sect3" | "sect4" | "sect5" | "refsection"
        | "refsect1" | "refsect2" | "refsect3" | "glossary" | "bibliography" | "acknowledgements"
        | "bridgehead" => section(name),
        "abstract" => Action::TitledSection("Abstract"),
        "title" | "titleabbrev" if name == "titleabbrev" => Action::Skip,
        "title" => Action::Title,
        "subtitle" | "para" | "simpara" | "attribution" => Action::Paragraph,
        "itemizedlist" | "simplelist" | "bibliolist" => Action::List,
        "orderedlist" | "procedure" | "substeps" => Action::OrderedList,
        "listitem" if outer == "varlistentry" => Action::Element("dd"),
        "listitem" | "step" | "member" | "biblioentry" | "bibliomixed" => item(name),
        "variablelist" | "glosslist" | "segmentedlist" => Action::Element("dl"),
        "term" | "glossterm" if matches!(outer, "varlistentry" | "glossentry") => Action::Element("dt"),
        "glossdef" => Action::Element("dd"),
        "literallayout" if tag.get("class") != Some("monospaced") => Action::Lines,
        "programlisting" | "screen" | "synopsis" | "literallayout" | "funcsynopsisinfo" => Action::Code,
        "blockquote" | "epigraph" => Action::Quote,
        "note" => Action::Admonition("Note"),
        "tip" => Action::Admonition("Tip"),
        "warning" => Action::Admonition("Warning"),
        "caution" => Action::Admonition("Caution"),
        "important" => Action::Admonition("Important"),
        "sidebar" => Action::Quote,
        "table" | "informaltable" => Action::Element("table"),
        "thead" | "tbody" | "tfoot" => Action::Content,
        "row" | "tr" => Action::Element("tr"),
        "entry" if is_within(parents, "thead") => Action::Cell("th", "", "morerows"),
        "entry" => Action::Cell("td", "", "morerows"),
        "th" => Action::Cell("th", "colspan", "rowspan"),
        "td" => Action::Cell("td", "colspan", "rowspan"),
        "figure" | "informalfigure" => Action::Element("figure"),
        "imagedata" | "graphic" | "inlinegraphic" => Action::Image("fileref"),
        "textobject" if outer == "mediaobject" || outer == "inlinemediaobject" => Action::Skip,
        "footnote" => Action::Note,
        "link" if tag.get("href").is_some() => Action::Link("href"),
        "ulink" => Action::Link("url"),
        "emphasis" if tag.get("role").is_some_and(|role| role == "bold" || role == "strong") => {
            Action::Element("strong")
        }
        "emphasis" | "firstterm" | "citetitle" | "replaceable" => Action::Element("em"),
        "literal" | "code" | "command" | "filename" | "option" | "parameter" | "varname" | "function"
        | "classname" | "constant" | "envar" | "type" | "userinput" | "computeroutput" | "markup" | "tag"
        | "sgmltag" | "property" | "methodname" | "systemitem" | "prompt" => Action::Element("code"),
        "superscript" => Action::Element("sup"),
        "subscript" => Action::Element("sub"),
        "quote" => Action::Element("q"),
        "mathphrase" | "alt" if matches!(outer, "equation" | "informalequation" | "inlineequation") => {
            Action::Latex
        }
        "math" => Action::Math,
        "sbr" => Action::Break,
        "index" | "indexterm" | "remark" | "toc" | "colspec" | "spanspec" | "xref" | "refmeta"
        | "areaspec" | "alt" => Action::Skip,
        _ => Action::Content,
    }
}

fn section(name: &str) -> Action {
    match name {
        "bridgehead" => Action::Title,
        "glossary" => Action::TitledSection("Glossary"),
        "bibliography" => Action::TitledSection("Bibliography"),
        _ => Action::Section,
    }
}

fn item(name: &str) -> Action {
    if name == "biblioentry" { Action::Citation } else { Action::Item }
}

/// Returns the treatment of the elements about the document or a part of it; `None` for the content of
/// its title and abstract.
fn info(name: &str, parents: &[String]) -> Option<Action> {
    if is_within(parents, "abstract") || is_within(parents, "title") {
        return None;
    }
    let is_document = parents.len() <= 2;
    Some(match name {
        "abstract" => return None,
        "title" if is_document => Action::MainTitle,
        "title" => Action::Title,
        "author" if is_document => Action::Author,
        "authorgroup" | "personname" | "firstname" | "surname" | "othername" | "orgname" => Action::Content,
        "pubdate" | "date" if is_document => Action::Date,
        _ => Action::Skip,
    })
}
