//! Reads the structure tree of a tagged PDF: the elements in reading order, and the content that belongs to them.

use std::collections::HashMap;

use hayro_syntax::Pdf;
use hayro_syntax::object::{Dict, Name, Object, ObjectIdentifier};

/// The maximum number of elements that are read.
const MAX_ELEMENTS: usize = 200_000;
/// The maximum number of pieces of content that are read.
const MAX_CONTENT: usize = 1_000_000;
/// The maximum nesting depth of elements.
const MAX_DEPTH: u32 = 100;
/// The maximum number of roles in a row that stand for each other.
const MAX_ROLES: usize = 8;
/// The number of elements between two calls of the stop function.
const STOP_CHECK_INTERVAL: usize = 4096;

/// The purpose of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A heading with its level, if it states one.
    Heading(Option<u32>),
    Paragraph,
    List,
    Item,
    Label,
    ItemBody,
    Table,
    Row,
    Cell,
    Code,
    ContentsEntry,
    /// A part of a paragraph.
    Inline,
    /// A picture, a formula or a form, on its own or in a paragraph.
    Object,
    /// A part of the document that contains other elements.
    Group,
}

/// An element of the structure tree.
#[derive(Debug, Clone, Copy)]
struct Element {
    role: Role,
    parent: Option<u32>,
}

/// The elements of a document, numbered in reading order.
#[derive(Debug, Default)]
pub(super) struct Structure {
    elements: Vec<Element>,
    /// The elements of the marked content, by page and identifier.
    content: HashMap<(u32, u32), u32>,
    pub(super) has_headings: bool,
}

/// An object of the tree that has not been read yet.
struct Pending<'a> {
    object: Object<'a>,
    parent: Option<u32>,
    page: Option<u32>,
    depth: u32,
}

impl Structure {
    /// Reads the structure tree; it is empty if the file has none.
    pub(super) fn read(pdf: &Pdf, stop: &dyn Fn() -> bool) -> Self {
        let mut structure = Self::default();
        let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
        let Some(root) = catalog.and_then(|catalog| catalog.get::<Dict<'_>>(b"StructTreeRoot")) else {
            return structure;
        };
        let ids =
            pdf.pages().iter().zip(0_u32..).filter_map(|(page, index)| Some((page.raw().obj_id()?, index)));
        let pages: HashMap<ObjectIdentifier, u32> = ids.collect();
        let roles = root.get::<Dict<'_>>(b"RoleMap").unwrap_or_default();
        let mut pending: Vec<Pending<'_>> = root
            .get::<Object<'_>>(b"K")
            .map(|object| Pending { object, parent: None, page: None, depth: 0 })
            .into_iter()
            .collect();
        let mut count = 0;
        while let Some(next) = pending.pop() {
            count += 1;
            let is_full = structure.elements.len() >= MAX_ELEMENTS || structure.content.len() >= MAX_CONTENT;
            if is_full || count > MAX_CONTENT || (count % STOP_CHECK_INTERVAL == 0 && stop()) {
                break;
            }
            structure.read_object(next, &roles, &pages, &mut pending);
        }
        structure
    }

    fn read_object<'a>(
        &mut self,
        Pending { object, parent, page, depth }: Pending<'a>,
        roles: &Dict<'_>,
        pages: &HashMap<ObjectIdentifier, u32>,
        pending: &mut Vec<Pending<'a>>,
    ) {
        match object {
            Object::Number(number) => {
                if let (Some(parent), Some(page)) = (parent, page) {
                    self.content.insert((page, number.as_f64().clamp(0.0, 1e9) as u32), parent);
                }
            }
            Object::Array(array) if depth < MAX_DEPTH => {
                let start = pending.len();
                let room = MAX_CONTENT.saturating_sub(start);
                let children = array.iter::<Object<'a>>().take(room);
                pending.extend(children.map(|object| Pending { object, parent, page, depth: depth + 1 }));
                pending[start..].reverse();
            }
            Object::Dict(dict) if depth < MAX_DEPTH => {
                let own_page = dict.get_ref(b"Pg").and_then(|page| pages.get(&page.into()).copied());
                let page = own_page.or(page);
                match dict.get::<Name<'_>>(b"Type").as_ref().map(Name::as_str) {
                    // Content of a form has identifiers of its own.
                    Some("MCR") if dict.contains_key(b"Stm") => {}
                    Some("MCR") => {
                        if let (Some(id), Some(parent), Some(page)) = (dict.get::<u32>(b"MCID"), parent, page)
                        {
                            self.content.insert((page, id), parent);
                        }
                    }
                    Some("OBJR") => {}
                    _ => {
                        let role = role(&dict, roles);
                        self.has_headings |= matches!(role, Role::Heading(_));
                        self.elements.push(Element { role, parent });
                        let number = u32::try_from(self.elements.len() - 1).ok();
                        if let Some(object) = dict.get::<Object<'a>>(b"K") {
                            pending.push(Pending { object, parent: number, page, depth: depth + 1 });
                        }
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// Returns the element that contains a piece of content; the paragraph rather than a part of it, unless the part is
    /// in no paragraph.
    pub(super) fn block(&self, page: u32, mcid: u32) -> Option<u32> {
        let mut element = *self.content.get(&(page, mcid))?;
        while let Some(Element { role, parent: Some(parent) }) = self.element(element) {
            let outer = self.role(parent);
            let is_part = match role {
                Role::Inline | Role::Object | Role::Code => outer != Role::Group,
                Role::Label => !matches!(outer, Role::Group | Role::Item),
                _ => false,
            };
            if !is_part {
                break;
            }
            element = parent;
        }
        Some(element)
    }

    fn element(&self, number: u32) -> Option<Element> {
        self.elements.get(number as usize).copied()
    }

    pub(super) fn role(&self, number: u32) -> Role {
        self.element(number).map_or(Role::Group, |element| element.role)
    }

    /// Returns the element itself and those that contain it, from the inside. A parent has a smaller number than its
    /// children, so this ends.
    pub(super) fn ancestors(&self, number: u32) -> impl Iterator<Item = (u32, Role)> + '_ {
        let mut next = Some(number);
        std::iter::from_fn(move || {
            let number = next?;
            let element = self.element(number)?;
            next = element.parent;
            Some((number, element.role))
        })
    }
}

/// Returns the role of an element. Names that the file defines stand for standard ones.
fn role(dict: &Dict<'_>, roles: &Dict<'_>) -> Role {
    let Some(name) = dict.get::<Name<'_>>(b"S") else { return Role::Group };
    let mut name = name.as_str().to_owned();
    for _ in 0..MAX_ROLES {
        if let Some(role) = standard_role(&name) {
            return role;
        }
        let Some(other) = roles.get::<Name<'_>>(name.as_bytes()) else { break };
        name = other.as_str().to_owned();
    }
    Role::Inline
}

fn standard_role(name: &str) -> Option<Role> {
    let level = |name: &str| name.strip_prefix('H')?.parse::<u32>().ok().filter(|level| *level > 0);
    Some(match name {
        "Title" => Role::Heading(Some(1)),
        "H" => Role::Heading(None),
        "P" | "Note" | "FENote" | "Caption" | "BlockQuote" | "Aside" | "BibEntry" => Role::Paragraph,
        "Figure" | "Formula" | "Form" => Role::Object,
        "L" => Role::List,
        "LI" => Role::Item,
        "Lbl" => Role::Label,
        "LBody" => Role::ItemBody,
        "Table" => Role::Table,
        "TR" => Role::Row,
        "TH" | "TD" => Role::Cell,
        "Code" => Role::Code,
        "TOCI" => Role::ContentsEntry,
        "Document" | "DocumentFragment" | "Part" | "Art" | "Sect" | "Div" | "THead" | "TBody" | "TFoot"
        | "TOC" | "Index" => Role::Group,
        "NonStruct" | "Private" | "Span" | "Quote" | "Reference" | "Link" | "Annot" | "Em" | "Strong"
        | "Sub" | "Ruby" | "Warichu" => Role::Inline,
        name => Role::Heading(Some(level(name)?)),
    })
}
