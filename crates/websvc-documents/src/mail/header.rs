//! Header fields: addresses and dates.

use crate::number_format::MONTHS;

/// Returns a list of addresses on one line, without quotes around names except those with a comma.
pub(crate) fn addresses(text: &str) -> String {
    let pieces = text.split('"').enumerate().map(|(index, piece)| {
        let is_needed = index % 2 == 1 && piece.contains([',', ';']);
        if is_needed { format!("\"{piece}\"") } else { piece.to_owned() }
    });
    pieces.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a date such as `Tue, 2 Jan 2024 03:04:05 +0100` in ISO 8601; `None` if it is not one.
pub(crate) fn iso_date(text: &str) -> Option<String> {
    let text = text.split_once(',').map_or(text, |(_, rest)| rest);
    let mut words = text.split_whitespace();
    let day: u32 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = words.next()?.get(..3)?;
    let month = MONTHS.iter().position(|name| name[..3].eq_ignore_ascii_case(month))? + 1;
    let year: u32 = words.next()?.parse().ok()?;
    let year = match year {
        0..=49 => year + 2000,
        50..=999 => year + 1900,
        year => year,
    };
    let mut time = words.next().unwrap_or("00:00:00").split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next().flatten().unwrap_or(0));
    let zone = match words.next() {
        Some(zone) if zone.len() == 5 && zone.starts_with(['+', '-']) && zone.is_ascii() => {
            format!("{}:{}", &zone[..3], &zone[3..])
        }
        _ => "Z".to_owned(),
    };
    (year <= 9999 && hour < 24 && minute < 60 && second <= 60)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_iso_8601() {
        for (text, expected) in [
            ("Tue, 2 Jan 2024 03:04:05 +0100", Some("2024-01-02T03:04:05+01:00")),
            ("2 Jan 24 03:04 GMT", Some("2024-01-02T03:04:00Z")),
            ("Tue, 2 Jan 2024 03:04:05 -0730 (PDT)", Some("2024-01-02T03:04:05-07:30")),
            ("yesterday", None),
            ("", None),
            ("99 Jan 2024 1:1", None),
        ] {
            assert_eq!(iso_date(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn addresses_have_no_quotes() {
        assert_eq!(addresses("\"Ada L.\"\r\n <ada@a.test>,  bo@a.test"), "Ada L. <ada@a.test>, bo@a.test");
        assert_eq!(addresses("\"Roe, M\" <m@a.test>"), "\"Roe, M\" <m@a.test>");
    }
}
