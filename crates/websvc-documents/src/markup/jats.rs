//! The elements of JATS, the format of journal articles (NISO Z39.96).

use super::{Action, is_within, parent};
use crate::xml::Tag;

pub(super) fn action(tag: &Tag, parents: &[String]) -> Action {
    if (is_within(parents, "front") || is_within(parents, "front-stub"))
        && let Some(action) = front(tag, parents)
    {
        return action;
    }
    let outer = parent(parents);
    match tag.name.as_str() {
        "sec" | "app" | "ack" | "bio" | "sub-article" | "response" | "boxed-text" | "notes" | "glossary" => {
            Action::Section
        }
        "abstract" | "trans-abstract" => Action::TitledSection("Abstract"),
        "ref-list" => Action::TitledSection("References"),
        "title" | "article-title" | "source" if is_within(parents, "ref") => Action::Content,
        "title" if outer == "caption" => Action::Element("strong"),
        "title" => Action::Title,
        "p" => Action::Paragraph,
        "label"
            if outer == "ref"
                || outer == "fn"
                || outer == "list-item"
                || outer == "sec"
                || outer == "app" =>
        {
            Action::Skip
        }
        "label" => Action::Label,
        "list" if tag.get("list-type").is_some_and(is_ordered) => Action::OrderedList,
        "list" => Action::List,
        "list-item" | "ref" => Action::Item,
        "def-list" => Action::Element("dl"),
        "term" => Action::Element("dt"),
        "def" => Action::Element("dd"),
        "disp-quote" | "verse-group" => Action::Quote,
        "verse-line" => Action::Paragraph,
        "fig" => Action::Element("figure"),
        "caption" => Action::Content,
        "graphic" | "inline-graphic" => Action::Image("href"),
        "table" | "thead" | "tbody" | "tfoot" | "tr" => Action::Element(table_element(&tag.name)),
        "th" => Action::Cell("th", "colspan", "rowspan"),
        "td" => Action::Cell("td", "colspan", "rowspan"),
        "bold" => Action::Element("strong"),
        "italic" => Action::Element("em"),
        "sub" => Action::Element("sub"),
        "sup" if parents.iter().any(|name| name == "xref") => Action::Content,
        "sup" => Action::Element("sup"),
        "strike" => Action::Element("del"),
        "monospace" => Action::Element("code"),
        "code" | "preformat" => Action::Code,
        "break" => Action::Break,
        "ext-link" | "uri" => Action::Link("href"),
        "xref" if matches!(tag.get("ref-type"), Some("fn" | "table-fn")) => Action::NoteReference("rid"),
        "fn" if is_within(parents, "fn-group") || is_within(parents, "table-wrap-foot") => Action::NamedNote,
        "fn" => Action::Note,
        "tex-math" => Action::Latex,
        "math" => Action::Math,
        "element-citation" => Action::Citation,
        "journal-meta"
        | "processing-meta"
        | "object-id"
        | "alt-text"
        | "long-desc"
        | "permissions"
        | "supplementary-material"
        | "front-stub"
        | "pub-id"
        | "author-notes" => Action::Skip,
        _ => Action::Content,
    }
}

/// Returns the treatment of the elements about the article itself.
fn front(tag: &Tag, parents: &[String]) -> Option<Action> {
    if ["abstract", "trans-abstract", "article-title"].iter().any(|name| is_within(parents, name)) {
        return None;
    }
    Some(match tag.name.as_str() {
        "article-title" => Action::MainTitle,
        "subtitle" => Action::Paragraph,
        "contrib" if tag.get("contrib-type").is_none_or(|kind| kind == "author") => Action::Author,
        "surname" | "given-names" | "string-name" | "name" | "name-alternatives" | "collab"
        | "contrib-group" => Action::Content,
        "pub-date" => Action::Date,
        "abstract" | "trans-abstract" => return None,
        "article-meta" | "title-group" | "front" => Action::Content,
        _ => Action::Skip,
    })
}

fn is_ordered(kind: &str) -> bool {
    matches!(kind, "order" | "alpha-lower" | "alpha-upper" | "roman-lower" | "roman-upper")
}

fn table_element(name: &str) -> &'static str {
    match name {
        "thead" => "thead",
        "tbody" => "tbody",
        "tfoot" => "tfoot",
        "tr" => "tr",
        _ => "table",
    }
}
