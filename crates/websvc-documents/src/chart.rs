//! Reads the data of charts in office files as tables, and the texts of diagrams as points.

use std::collections::BTreeMap;

use crate::error::DocumentError;
use crate::flow::{Block, Marker, Role};
use crate::html::escape;
use crate::inline::{Inline, TextStyle};
use crate::kind::DocumentKind;
use crate::number_format::display;
use crate::office::Relations;
use crate::table::Table;
use crate::xml::{Tag, Xml};
use crate::zip_package::Package;

/// The maximum numbers of series and of points of a series that are read.
const MAX_SERIES: usize = 64;
const MAX_POINTS: usize = 2000;

/// A series of values.
#[derive(Debug, Default)]
struct Series {
    name: String,
    /// The categories, or the x values, by the index of the point.
    categories: BTreeMap<usize, String>,
    values: BTreeMap<usize, String>,
}

/// Reads the chart or the diagram to which an element refers.
pub(crate) fn referenced(
    package: &mut Package,
    kind: DocumentKind,
    relations: &Relations,
    tag: &Tag,
) -> Result<Vec<Block>, DocumentError> {
    let is_chart = tag.name == "chart";
    match relations.of_attribute(tag, if is_chart { "r:id" } else { "r:dm" }) {
        Some(part) if is_chart => Ok(vec![Block::Markup(read(package, kind, part)?)]),
        Some(part) => diagram(package, kind, part),
        None => Ok(Vec::new()),
    }
}

/// Returns a chart as its title and a table of its values; an empty text if it has none.
fn read(package: &mut Package, kind: DocumentKind, part: &str) -> Result<String, DocumentError> {
    let Some(text) = package.part(part)? else { return Ok(String::new()) };
    let mut xml = Xml::new(kind, &text);
    let mut title = String::new();
    let mut all: Vec<Series> = Vec::new();
    let mut in_plot = false;
    while let Some(tag) = xml.start()? {
        match tag.name.as_str() {
            "plotArea" => in_plot = true,
            "title" if !in_plot && title.is_empty() => title = text_of_title(&mut xml)?,
            "ser" if all.len() < MAX_SERIES => all.push(series(&mut xml)?),
            // The titles of axes, and the copy of the data for old programs.
            "title" | "catAx" | "valAx" | "dateAx" | "serAx" | "legend" | "Fallback" => xml.skip()?,
            _ => {}
        }
    }
    // The series of a scatter chart may have x values of their own.
    let table: String = all.chunk_by(shares_categories).map(table).collect();
    if table.is_empty() || title.trim().is_empty() {
        return Ok(table);
    }
    Ok(format!("<p>{}</p>\n{table}", escape(title.trim())))
}

/// Returns the texts of a diagram (SmartArt) as points.
fn diagram(package: &mut Package, kind: DocumentKind, part: &str) -> Result<Vec<Block>, DocumentError> {
    let Some(text) = package.part(part)? else { return Ok(Vec::new()) };
    let mut xml = Xml::new(kind, &text);
    let mut points = Vec::new();
    let mut is_node = false;
    while let Some(tag) = xml.start()? {
        match tag.name.as_str() {
            "pt" => is_node = matches!(tag.get("type"), None | Some("node" | "asst")),
            "t" if is_node => {
                let mut inline = Inline::default();
                inline.text(&xml.text()?, TextStyle::default());
                points.push(Block::Paragraph(Role::Item { depth: 0, marker: Marker::Bullet }, inline));
            }
            _ => {}
        }
    }
    Ok(points)
}

fn text_of_title(xml: &mut Xml<'_>) -> Result<String, DocumentError> {
    let mut text = String::new();
    while let Some(tag) = xml.start_in("title")? {
        if matches!(tag.name.as_str(), "t" | "v") {
            text.push_str(&xml.text()?);
        }
    }
    Ok(text)
}

fn series(xml: &mut Xml<'_>) -> Result<Series, DocumentError> {
    let mut series = Series::default();
    while let Some(tag) = xml.start_in("ser")? {
        match tag.name.as_str() {
            "tx" => series.name = points(xml, "tx")?.into_values().collect::<Vec<_>>().join(" "),
            "cat" | "xVal" => series.categories = points(xml, &tag.name)?,
            "val" | "yVal" => series.values = points(xml, &tag.name)?,
            "dPt" | "dLbls" | "trendline" | "errBars" | "extLst" | "spPr" => xml.skip()?,
            _ => {}
        }
    }
    Ok(series)
}

/// Returns the displayed values of the points in an element by their index. Of the levels of a category, the first
/// counts.
fn points(xml: &mut Xml<'_>, element: &str) -> Result<BTreeMap<usize, String>, DocumentError> {
    let mut points: BTreeMap<usize, String> = BTreeMap::new();
    let (mut format, mut index) = (String::new(), 0);
    while let Some(tag) = xml.start_in(element)? {
        match tag.name.as_str() {
            "formatCode" => format = xml.text()?,
            "pt" => index = tag.parsed("idx").unwrap_or(points.len()),
            "v" if points.len() < MAX_POINTS => {
                let value = xml.text()?;
                points.entry(index).or_insert_with(|| display(&value, &format));
            }
            _ => {}
        }
    }
    Ok(points)
}

/// Returns whether a series has the categories of the one before it, as far as both state them.
fn shares_categories(before: &Series, series: &Series) -> bool {
    let is_same = |(index, category): (&usize, &String)| {
        before.categories.get(index).is_none_or(|other| other == category)
    };
    series.categories.iter().all(is_same)
}

/// Returns the values of series with the same categories.
fn table(all: &[Series]) -> String {
    let mut rows: BTreeMap<usize, String> = BTreeMap::new();
    for series in all {
        for index in series.values.keys() {
            rows.entry(*index).or_default();
        }
        for (index, category) in &series.categories {
            let label = rows.entry(*index).or_default();
            if label.is_empty() {
                label.clone_from(category);
            }
        }
    }
    let mut table = Table::default();
    table.row();
    table.cell(String::new(), 1);
    all.iter().for_each(|series| table.cell(escape(&series.name), 1));
    for (index, label) in rows.iter().take(MAX_POINTS) {
        table.row();
        table.cell(escape(label), 1);
        for series in all {
            table.cell(escape(series.values.get(index).map_or("", String::as_str)), 1);
        }
    }
    if rows.is_empty() { String::new() } else { table.finish() }
}
