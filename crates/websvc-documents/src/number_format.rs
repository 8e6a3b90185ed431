//! How Excel shows numbers: which styles are dates, and the day that a number stands for.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::xml::{Token, Xml};

/// Format of a number cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellFormat {
    Plain,
    Percent,
    Date,
    DateTime,
    Time,
}

/// The formats of the styles of cells, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberFormats {
    styles: Vec<CellFormat>,
}

impl NumberFormats {
    pub(crate) fn read(text: &str) -> Result<Self, DocumentError> {
        let mut xml = Xml::new(DocumentKind::Xlsx, text);
        let mut own: HashMap<u32, CellFormat> = HashMap::new();
        let mut formats = Self::default();
        let mut in_cells = false;
        while let Some(token) = xml.next()? {
            match token {
                Token::Start(tag) => match tag.name.as_str() {
                    "cellXfs" => in_cells = true,
                    "numFmt" => {
                        let id = tag.get("numFmtId").and_then(|id| id.parse().ok());
                        if let (Some(id), Some(code)) = (id, tag.get("formatCode")) {
                            own.insert(id, of_code(code));
                        }
                    }
                    "xf" if in_cells => {
                        let id = tag.get("numFmtId").and_then(|id| id.parse().ok()).unwrap_or(0);
                        formats.styles.push(own.get(&id).copied().unwrap_or_else(|| built_in(id)));
                    }
                    _ => {}
                },
                Token::End(name) if name == "cellXfs" => in_cells = false,
                Token::End(_) | Token::Text(_) => {}
            }
        }
        Ok(formats)
    }

    /// Returns how a number looks in a style.
    pub(crate) fn shown(&self, value: &str, style: usize) -> String {
        let shown = self.styles.get(style).copied().unwrap_or(CellFormat::Plain);
        let Ok(number) = value.parse::<f64>() else { return value.to_owned() };
        match shown {
            CellFormat::Plain => plain(number, value),
            CellFormat::Percent => format!("{}%", plain(number * 100.0, value)),
            CellFormat::Date | CellFormat::DateTime | CellFormat::Time => {
                date(number, shown).unwrap_or_else(|| value.to_owned())
            }
        }
    }
}

/// Returns a number without the noise that binary fractions have in their last digits.
pub(crate) fn plain(number: f64, value: &str) -> String {
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

/// Reads a format such as `yyyy\-mm\-dd`; what is quoted or in brackets is shown as it is.
fn of_code(code: &str) -> CellFormat {
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
    let has = |wanted: &[char]| letters.contains(wanted);
    match (has(&['y', 'd']), has(&['h', 's'])) {
        (true, true) => CellFormat::DateTime,
        (true, false) => CellFormat::Date,
        (false, true) => CellFormat::Time,
        (false, false) if has(&['%']) => CellFormat::Percent,
        (false, false) => CellFormat::Plain,
    }
}

/// Returns the day and time of a number of days since the end of 1899.
fn date(number: f64, shown: CellFormat) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&number) {
        return None;
    }
    let seconds = (number.fract() * 86_400.0).round() as i64;
    let (days, seconds) = (number.trunc() as i64 + seconds / 86_400, seconds % 86_400);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    // Excel believes that 1900 was a leap year: the days before March of it are one off.
    let (year, month, day) = civil(days - 25_569 + i64::from(days < 60));
    let day = format!("{year:04}-{month:02}-{day:02}");
    Some(match shown {
        CellFormat::Time => time,
        CellFormat::DateTime => format!("{day} {time}"),
        CellFormat::Date | CellFormat::Plain | CellFormat::Percent => day,
    })
}

/// Returns year, month and day of a day since 1970-01-01 in the Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Counted from March of the year 0, so that the leap day is the last of its year; in eras of 400 years.
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
    fn numbers_are_shown_as_their_format_says() {
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
            let formats = NumberFormats { styles: vec![of_code(code)] };
            assert_eq!(formats.shown(number, 0), expected, "{code}");
        }
    }
}
