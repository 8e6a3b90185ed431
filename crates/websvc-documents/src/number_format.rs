//! Formats numbers as Excel displays them, including dates, times and percentages.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::xml::{Token, Xml};

/// The format of a number cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellFormat {
    Plain,
    Percent,
    Date,
    DateTime,
    Time,
}

/// The number formats of a workbook, by the index of the cell style.
#[derive(Debug, Default)]
pub(crate) struct NumberFormats {
    styles: Vec<CellFormat>,
}

impl NumberFormats {
    pub(crate) fn read(text: &str) -> Result<Self, DocumentError> {
        let mut xml = Xml::new(DocumentKind::Xlsx, text);
        let mut custom: HashMap<u32, CellFormat> = HashMap::new();
        let mut formats = Self::default();
        let mut in_cells = false;
        while let Some(token) = xml.next()? {
            match token {
                Token::Start(tag) => match tag.name.as_str() {
                    "cellXfs" => in_cells = true,
                    "numFmt" => {
                        let id = tag.get("numFmtId").and_then(|id| id.parse().ok());
                        if let (Some(id), Some(code)) = (id, tag.get("formatCode")) {
                            custom.insert(id, from_code(code));
                        }
                    }
                    "xf" if in_cells => {
                        let id = tag.get("numFmtId").and_then(|id| id.parse().ok()).unwrap_or(0);
                        formats.styles.push(custom.get(&id).copied().unwrap_or_else(|| built_in(id)));
                    }
                    _ => {}
                },
                Token::End(name) if name == "cellXfs" => in_cells = false,
                Token::End(_) | Token::Text(_) => {}
            }
        }
        Ok(formats)
    }

    /// Formats a number with the format of a cell style.
    pub(crate) fn format(&self, value: &str, style: usize) -> String {
        let format = self.styles.get(style).copied().unwrap_or(CellFormat::Plain);
        let Ok(number) = value.parse::<f64>() else { return value.to_owned() };
        match format {
            CellFormat::Plain => format_number(number, value),
            CellFormat::Percent => format!("{}%", format_number(number * 100.0, value)),
            CellFormat::Date | CellFormat::DateTime | CellFormat::Time => {
                date(number, format).unwrap_or_else(|| value.to_owned())
            }
        }
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

fn built_in(id: u32) -> CellFormat {
    match id {
        9 | 10 => CellFormat::Percent,
        14..=17 | 27..=31 | 34..=36 | 50..=58 => CellFormat::Date,
        18..=21 | 32 | 33 | 45..=47 => CellFormat::Time,
        22 => CellFormat::DateTime,
        _ => CellFormat::Plain,
    }
}

/// Classifies a format code such as `yyyy\-mm\-dd`. Text in quotes or brackets is literal and is ignored.
fn from_code(code: &str) -> CellFormat {
    let mut letters = String::new();
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => while characters.next().is_some_and(|inner| inner != '"') {},
            '[' => while characters.next().is_some_and(|inner| inner != ']') {},
            '\\' | '_' | '*' => {
                characters.next();
            }
            ';' => break,
            other => letters.extend(other.to_lowercase()),
        }
    }
    let has = |any_of: &[char]| letters.contains(any_of);
    match (has(&['y', 'd']), has(&['h', 's'])) {
        (true, true) => CellFormat::DateTime,
        (true, false) => CellFormat::Date,
        (false, true) => CellFormat::Time,
        (false, false) if has(&['%']) => CellFormat::Percent,
        (false, false) => CellFormat::Plain,
    }
}

/// Formats a serial date, which is a number of days since the end of 1899; `None` if it is out of range.
fn date(number: f64, format: CellFormat) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&number) {
        return None;
    }
    let seconds = (number.fract() * 86_400.0).round() as i64;
    let (days, seconds) = (number.trunc() as i64 + seconds / 86_400, seconds % 86_400);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    // Excel treats 1900 as a leap year, so the days before March 1900 are off by one.
    let (year, month, day) = civil_from_days(days - 25_569 + i64::from(days < 60));
    let day = format!("{year:04}-{month:02}-{day:02}");
    Some(match format {
        CellFormat::Time => time,
        CellFormat::DateTime => format!("{day} {time}"),
        CellFormat::Date | CellFormat::Plain | CellFormat::Percent => day,
    })
}

/// Converts days since 1970-01-01 to year, month and day of the Gregorian calendar.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // Years begin in March here, so that the leap day is the last day of its year. An era is 400 years.
    let from_march = days + 719_468;
    let (era, day_of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_by_their_format_code() {
        for (code, number, expected) in [
            ("General", "0.30000000000000004", "0.3"),
            ("yyyy-mm-dd", "45292", "2024-01-01"),
            ("dd/mm/yy h:mm", "45292.75", "2024-01-01 18:00:00"),
            ("h:mm", "0.5", "12:00:00"),
            ("yyyy", "1", "1900-01-01"),
            ("yyyy", "61", "1900-03-01"),
            ("0.0%", "0.125", "12.5%"),
            ("0.00\" days\"", "3", "3"),
            ("[Red]0", "7", "7"),
        ] {
            let formats = NumberFormats { styles: vec![from_code(code)] };
            assert_eq!(formats.format(number, 0), expected, "{code}");
        }
    }
}
