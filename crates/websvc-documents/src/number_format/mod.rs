//! Formats numbers as Excel displays them: by the number format of their cell.

mod code;
mod date;
mod number;
mod part;
mod simple;

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::xml::{Token, Xml};
use code::Section;
use part::Part;

pub(crate) use date::{MONTHS, civil_from_days};

/// The number of days between the epochs of the date systems of 1900 and 1904.
const DAYS_1904: f64 = 1462.0;

/// The number formats of a workbook, by the index of the cell style.
#[derive(Debug, Default)]
pub(crate) struct NumberFormats {
    formats: Vec<Format>,
    /// The index of each format by its number in the workbook.
    indexes: HashMap<u32, usize>,
    /// The index of the format of each cell style.
    styles: Vec<usize>,
    /// The number of days to add to dates.
    date_offset: f64,
}

impl NumberFormats {
    /// Creates the formats of a workbook without cell styles. `is_1904` if its dates begin in 1904.
    pub(crate) fn new(is_1904: bool) -> Self {
        Self { date_offset: if is_1904 { DAYS_1904 } else { 0.0 }, ..Self::default() }
    }

    /// Adds the next cell style, by the number of its format. `codes` are the formats that are not built in.
    pub(crate) fn add_style(&mut self, format: u32, codes: &HashMap<u32, String>) {
        let index = *self.indexes.entry(format).or_insert_with(|| {
            let code = codes.get(&format).map_or_else(|| code::built_in(format), String::as_str);
            self.formats.push(Format::new(code));
            self.formats.len() - 1
        });
        self.styles.push(index);
    }

    /// Reads the styles of a workbook. `is_1904` if its dates begin in 1904.
    pub(crate) fn read(text: &str, is_1904: bool) -> Result<Self, DocumentError> {
        let mut xml = Xml::new(DocumentKind::Xlsx, text);
        let mut formats = Self::new(is_1904);
        let mut codes: HashMap<u32, String> = HashMap::new();
        let mut in_cells = false;
        while let Some(token) = xml.next()? {
            match token {
                Token::Start(tag) => match tag.name.as_str() {
                    "cellXfs" => in_cells = true,
                    "numFmt" => {
                        let id = tag.parsed("numFmtId");
                        if let (Some(id), Some(code)) = (id, tag.get("formatCode")) {
                            codes.insert(id, code.to_owned());
                        }
                    }
                    "xf" if in_cells => formats.add_style(tag.parsed("numFmtId").unwrap_or(0), &codes),
                    _ => {}
                },
                Token::End(name) if name == "cellXfs" => in_cells = false,
                Token::End(_) | Token::Text(_) => {}
            }
        }
        Ok(formats)
    }

    fn style(&self, style: usize) -> Option<&Format> {
        self.styles.get(style).and_then(|index| self.formats.get(*index))
    }

    /// Returns whether there is such a cell style.
    pub(crate) fn has_style(&self, style: usize) -> bool {
        self.style(style).is_some()
    }

    /// Formats a number with the format of a cell style.
    pub(crate) fn format(&self, value: &str, style: usize) -> String {
        let Ok(number) = value.parse::<f64>() else { return value.to_owned() };
        match self.style(style) {
            Some(format) => format.number(number, value, self.date_offset),
            None => format_number(number, value),
        }
    }

    /// Formats a text with the format of a cell style; `None` if the text is displayed as it is.
    pub(crate) fn format_text(&self, text: &str, style: usize) -> Option<String> {
        self.style(style)?.text(text)
    }
}

/// Returns a number as it is displayed with a format code.
pub(crate) fn display(value: &str, code: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) => Format::new(code).number(number, value, 0.0),
        Err(_) => value.to_owned(),
    }
}

/// Formats a number without the rounding noise of binary fractions.
pub(crate) fn format_number(number: f64, value: &str) -> String {
    if number.abs() >= 1e15 || (number != 0.0 && number.abs() < 1e-9) {
        return value.to_owned();
    }
    let text = format!("{number:.10}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A number format: its sections for positive numbers, negative numbers, zero and text.
#[derive(Debug, Default)]
struct Format {
    sections: Vec<Section>,
}

impl Format {
    fn new(code: &str) -> Self {
        Self { sections: code::parse(code) }
    }

    fn number(&self, number: f64, value: &str, date_offset: f64) -> String {
        if !number.is_finite() {
            return value.to_owned();
        }
        let Some((section, is_negative)) = self.section(number) else { return format_number(number, value) };
        if section.is_date() {
            return date::format(section, number + date_offset)
                .unwrap_or_else(|| format_number(number, value));
        }
        let simple = section.simple.as_ref().and_then(|simple| simple.format(number));
        let text = simple.unwrap_or_else(|| number::format(section, number, value));
        let text = if is_negative { format!("-{}", text.trim_start()) } else { text };
        if text.trim().len() == text.len() { text } else { text.trim().to_owned() }
    }

    /// Returns the section of a number, and whether a minus sign has to be added.
    fn section(&self, number: f64) -> Option<(&Section, bool)> {
        let numeric = &self.sections[..self.sections.len().min(3)];
        if numeric.iter().any(|section| section.condition.is_some()) {
            let section = numeric.iter().find(|section| section.holds(number))?;
            return Some((section, number < 0.0 && !section.is_for_negative()));
        }
        // A format of text alone shows numbers as they are.
        let numeric = if numeric.len() == 1 && numeric[0].is_text() { &[] } else { numeric };
        match (numeric, number) {
            ([first], number) => Some((first, number < 0.0)),
            ([_, second, ..], number) if number < 0.0 => Some((second, false)),
            ([_, _, third], 0.0) => Some((third, false)),
            ([first, ..], _) => Some((first, false)),
            ([], _) => None,
        }
    }

    fn text(&self, text: &str) -> Option<String> {
        let section = match self.sections.as_slice() {
            [.., last] if self.sections.len() == 4 || last.is_text() => last,
            _ => return None,
        };
        let parts = section.parts.iter().map(|part| match part {
            Part::Text => text,
            Part::Literal(literal) => literal,
            _ => "",
        });
        Some(parts.collect::<String>().trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_by_their_format_code() {
        for (code, number, expected) in [
            ("General", "0.30000000000000004", "0.3"),
            ("General\" kr\"", "5", "5 kr"),
            ("@", "7", "7"),
            ("", "7", "7"),
            ("0", "7.5", "8"),
            ("0.00%", "0.00005", "0.01%"),
            ("#", "0", ""),
            ("#,##0", "999", "999"),
            ("#,##0", "1000", "1,000"),
            ("0.0", "999999999999999", "999999999999999.0"),
            ("0,000", "7", "0,007"),
            ("0.00", "2.675", "2.68"),
            ("0.00", "-0.5", "-0.50"),
            ("0.00;[Red]-0.00", "-0.5", "-0.50"),
            ("#,##0.00 \"kr\"", "1234.5", "1,234.50 kr"),
            ("#,##0", "-1234567", "-1,234,567"),
            ("#,##0,", "1234567", "1,235"),
            ("0.0,,\"M\"", "12345678", "12.3M"),
            ("$#,##0.00_);($#,##0.00)", "-12.5", "($12.50)"),
            ("[$€-407] #,##0.00", "3", "€ 3.00"),
            ("#,##0.00 [$zł-415]", "3", "3.00 zł"),
            ("_(* #,##0.00_);_(* \\(#,##0.00\\);_(* \"-\"??_);_(@_)", "0", "-"),
            ("_(* #,##0.00_);_(* \\(#,##0.00\\);_(* \"-\"??_);_(@_)", "-5", "(5.00)"),
            ("00000", "123", "00123"),
            ("000-00-0000", "123456789", "123-45-6789"),
            ("(000) 000-0000", "5551234567", "(555) 123-4567"),
            ("0.0%", "0.125", "12.5%"),
            ("0.00\" days\"", "3", "3.00 days"),
            ("[Red]0", "7", "7"),
            ("[>=100]0\" high\";[<10]0.0\" low\";0", "5", "5.0 low"),
            ("[>=100]0\" high\";[<10]0.0\" low\";0", "500", "500 high"),
            ("[>=100]0\" high\";[<10]0.0\" low\";0", "50", "50"),
            ("[=1]\"yes\";[=0]\"no\";0", "1", "yes"),
            ("0;-0;\"none\"", "0", "none"),
            ("0;;", "-5", ""),
            ("# ?/?", "1.5", "1 1/2"),
            ("# ??/??", "0.3125", "5/16"),
            ("# ?/8", "2.375", "2 3/8"),
            ("# ?/?", "3", "3"),
            ("0.00E+00", "12345", "1.23E+04"),
            ("##0.0E+0", "12345", "12.3E+3"),
            ("0.00E+00", "0.00012", "1.20E-04"),
            ("0.##", "5.5", "5.5"),
            ("0.0", "1e300", "1000000000000000000000000000000000000"),
        ] {
            let shown = display(number, code);
            assert!(
                if number == "1e300" { shown.starts_with(expected) } else { shown == expected },
                "{code}: {shown}"
            );
        }
    }

    #[test]
    fn conditions_padding_and_currencies_are_shown_as_in_excel() {
        for (code, number, expected) in [
            ("[>=1000000]0.0,,\"M\";[>=1000]0.0,\"K\";0", "1234567", "1.2M"),
            ("[>=1000000]0.0,,\"M\";[>=1000]0.0,\"K\";0", "1234", "1.2K"),
            ("[>=1000000]0.0,,\"M\";[>=1000]0.0,\"K\";0", "12", "12"),
            ("[>=1000000]0.0,,\"M\";[>=1000]0.0,\"K\";0", "-12", "-12"),
            (
                "_-* #,##0.00\\ \"€\"_-;\\-* #,##0.00\\ \"€\"_-;_-* \"-\"??\\ \"€\"_-;_-@_-",
                "1234.5",
                "1,234.50 €",
            ),
            (
                "_-* #,##0.00\\ \"€\"_-;\\-* #,##0.00\\ \"€\"_-;_-* \"-\"??\\ \"€\"_-;_-@_-",
                "-1234.5",
                "-1,234.50 €",
            ),
            ("+0.0;-0.0;0", "3", "+3.0"),
            ("[Color10]0", "7", "7"),
            ("0.0 %", "0.5", "50.0 %"),
            ("##\" \"##\" \"##", "123456", "12 34 56"),
            ("\"Q\"0", "3", "Q3"),
            ("[<1]0.00%;0%", "0.5", "50.00%"),
            ("[<1]0.00%;0%", "2", "200%"),
            ("#,##0.00_ ;[Red]\\-#,##0.00\\ ", "-5", "-5.00"),
            ("0.0?", "5.5", "5.5"),
            ("0;\\-0;;@", "0", ""),
            ("[=0]\"-\";General", "0", "-"),
            ("General;-General;\"nil\"", "0", "nil"),
            ("General;-General;\"nil\"", "-1.5", "-1.5"),
            ("#.##", "0.5", ".5"),
            ("?/?", "0.5", "1/2"),
            ("# ?/?", "0", "0"),
            ("# ?/?", "-1.25", "-1 1/4"),
            ("0.00;(0.00)", "-0.001", "(0.00)"),
            ("#,##0.00%", "12.345", "1,234.50%"),
            ("$ #,##0", "-1234", "-$ 1,234"),
        ] {
            assert_eq!(display(number, code), expected, "{code}");
        }
    }

    #[test]
    fn parts_of_dates_and_elapsed_times_are_shown_as_in_excel() {
        for (code, number, expected) in [
            ("[h]:mm:ss;@", "1.5", "36:00:00"),
            ("m/d", "45322", "1/31"),
            ("mmm d", "45322", "Jan 31"),
            ("[$-F400]h:mm:ss\\ AM/PM", "0.5", "12:00:00 PM"),
            ("ss.00", "0.00001", "00.86"),
            ("mmmmm", "45292", "J"),
            ("ddd", "45292", "Mon"),
            ("[hh]", "1.5", "36"),
            ("[m]", "0.5", "720"),
            ("h:mm A/P", "0.75", "6:00 P"),
            ("[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "45322", "2024-01-31"),
            ("yyyy\"年\"m\"月\"d\"日\";@", "45322", "2024-01-31"),
            ("h\"h\"mm", "0.3125", "7h30"),
        ] {
            assert_eq!(display(number, code), expected, "{code}");
        }
    }

    #[test]
    fn dates_and_times_are_formatted_by_their_format_code() {
        for (code, number, expected) in [
            ("yyyy-mm-dd", "45292", "2024-01-01"),
            ("dd/mm/yy h:mm", "45292.75", "2024-01-01 18:00"),
            ("dddd, mmmm d, yyyy", "45292", "2024-01-01"),
            ("yyyy-mm-dd h:mm:ss", "46083.60416666666", "2026-03-02 14:30:00"),
            ("yyyy", "1", "1900"),
            ("mmm yyyy", "61", "Mar 1900"),
            ("d. mmmm", "45292", "1. January"),
            ("[$-409]dddd", "45292", "Monday"),
            ("h:mm", "0.5", "12:00"),
            ("h:mm:ss", "0.2951388888888889", "7:05:00"),
            ("hh:mm AM/PM", "0.75", "06:00 PM"),
            ("mm:ss.0", "0.000694444444444444", "01:00.0"),
            ("[h]:mm", "1.253472222222222", "30:05"),
            ("[hh]:mm:ss", "0.0423611111", "01:01:00"),
            ("[mm]:ss", "0.0423611111", "61:00"),
            ("[ss]", "0.001", "86"),
            ("[h]\"h\" mm\"m\"", "1.5", "36h 00m"),
            ("yyyy-mm-dd", "-5", "-5"),
        ] {
            assert_eq!(display(number, code), expected, "{code}");
        }
    }

    #[test]
    fn text_is_put_into_its_section() {
        assert_eq!(Format::new("\"No. \"@").text("7"), Some("No. 7".to_owned()));
        assert_eq!(Format::new("0;0;0;\"<\"@\">\"").text("a"), Some("<a>".to_owned()));
        assert_eq!(Format::new("0.00").text("a"), None);
    }

    #[test]
    fn built_in_formats_are_known() {
        let shown = |id, number| display(number, code::built_in(id));
        assert_eq!(shown(0, "1.5"), "1.5");
        assert_eq!(shown(4, "1234.5"), "1,234.50");
        assert_eq!(shown(10, "0.5"), "50.00%");
        assert_eq!(shown(14, "45292"), "2024-01-01");
        assert_eq!(shown(46, "1.5"), "36:00:00");
        assert_eq!(shown(44, "-1.5"), "$(1.50)");
    }
}
