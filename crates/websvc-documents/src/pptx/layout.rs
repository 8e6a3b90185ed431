//! The areas of the placeholders of the layouts and masters of slides.

use std::collections::HashMap;

use super::{KIND, area};
use crate::error::DocumentError;
use crate::reading_order::Area;
use crate::xml::{Tag, Xml};

/// The maximum number of placeholders of a layout.
const MAX_PLACEHOLDERS: usize = 1000;

/// Returns the two numbers of an element such as `<a:off x="1" y="2"/>`.
pub(super) fn pair(tag: &Tag, first: &str, second: &str) -> Option<(f64, f64)> {
    let number = |name| tag.parsed::<f64>(name).filter(|value| value.is_finite());
    Some((number(first)?, number(second)?))
}

/// The areas of the placeholders of a layout, by type and index.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    by_index: HashMap<String, Area>,
    by_type: HashMap<String, Area>,
}

impl Placeholders {
    /// Reads the placeholders of a layout or master. Those that were read before are replaced.
    pub(super) fn read(&mut self, text: &str) -> Result<(), DocumentError> {
        let mut xml = Xml::new(KIND, text);
        let (mut placeholder, mut off) = (None, None);
        while let Some(tag) = xml.start()? {
            match tag.name.as_str() {
                "sp" | "pic" | "graphicFrame" => (placeholder, off) = (None, None),
                "ph" => placeholder = Some(key(&tag)),
                "off" => off = pair(&tag, "x", "y"),
                "ext" => {
                    let area = area(off.take(), pair(&tag, "cx", "cy"));
                    if let (Some((kind, index)), Some(area)) = (placeholder.take(), area)
                        && self.by_index.len() + self.by_type.len() < MAX_PLACEHOLDERS
                    {
                        self.by_index.extend(index.map(|index| (index, area)));
                        self.by_type.insert(kind, area);
                    }
                }
                "txBody" => xml.skip()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the area of a placeholder of a slide.
    pub(super) fn area(&self, tag: &Tag) -> Option<Area> {
        let (kind, index) = key(tag);
        index.and_then(|index| self.by_index.get(&index)).or_else(|| self.by_type.get(&kind)).copied()
    }
}

/// Returns the type and the index of a placeholder. A centered title is a title, and a body is the default.
fn key(tag: &Tag) -> (String, Option<String>) {
    let kind = match tag.get("type") {
        Some("ctrTitle" | "title") => "title",
        Some(kind) => kind,
        None => "body",
    };
    (kind.to_owned(), tag.get("idx").map(str::to_owned))
}
