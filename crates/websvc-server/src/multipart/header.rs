//! The headers of a multipart body and of its parts.

use percent_encoding::percent_decode_str;

/// The maximum length of a boundary (RFC 2046, section 5.1.1).
const BOUNDARY_MAX_CHARS: usize = 70;

/// The headers of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The name of the form field.
    pub(crate) name: String,
    /// The file name as the client sent it. It may contain any characters.
    pub(crate) file_name: Option<String>,
    /// The media type of the content.
    pub(crate) media_type: Option<String>,
}

/// Returns the boundary in a `Content-Type`; `None` if it is not `multipart/form-data` with a valid boundary.
pub(super) fn boundary(content_type: &str) -> Option<String> {
    let (essence, parameters) = content_type.split_once(';')?;
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = Parameters(parameters).find(|(name, _)| name == "boundary")?.1;
    let is_valid = !boundary.is_empty()
        && boundary.len() <= BOUNDARY_MAX_CHARS
        && boundary.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        && !boundary.ends_with(' ');
    is_valid.then_some(boundary)
}

/// Parses the headers of a part; `None` if it has no name.
pub(super) fn parse_part(headers: &[u8]) -> Option<Part> {
    let text = String::from_utf8_lossy(headers);
    let (mut disposition, mut media_type) = (None, None);
    for line in text.split("\r\n") {
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.trim().to_ascii_lowercase().as_str() {
            "content-disposition" => disposition = Some(value.trim()),
            "content-type" => media_type = Some(value.trim().to_owned()).filter(|value| !value.is_empty()),
            _ => {}
        }
    }
    let (kind, parameters) = disposition?.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("form-data") {
        return None;
    }
    let (mut name, mut file_name, mut extended) = (None, None, None);
    for (parameter, value) in Parameters(parameters) {
        match parameter.as_str() {
            "name" => name = Some(value),
            "filename" => file_name = Some(value),
            "filename*" => extended = decode_extended(&value),
            _ => {}
        }
    }
    Some(Part { name: name?, file_name: extended.or(file_name), media_type })
}

/// Decodes the extended form of a value (RFC 8187): `UTF-8''caf%C3%A9.pdf`.
fn decode_extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_language, text) = rest.split_once('\'')?;
    if !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
}

/// An iterator over the parameters of a header: names in lower case, and values without quotes.
struct Parameters<'a>(&'a str);

impl Iterator for Parameters<'_> {
    type Item = (String, String);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0.trim_start_matches([' ', '\t', ';']);
        let (name, value) = rest.split_once('=')?;
        let name = name.trim().to_ascii_lowercase();
        let value = value.trim_start();
        let Some(quoted) = value.strip_prefix('"') else {
            let end = value.find(';').unwrap_or(value.len());
            self.0 = &value[end..];
            return Some((name, value[..end].trim().to_owned()));
        };
        let (mut text, mut chars) = (String::new(), quoted.char_indices());
        let mut end = quoted.len();
        while let Some((index, char)) = chars.next() {
            match char {
                '"' => {
                    end = index + 1;
                    break;
                }
                // Browsers do not escape the backslashes of Windows paths, so a backslash escapes only a quote or another
                // backslash.
                '\\' if quoted[index + 1..].starts_with(['"', '\\']) => {
                    text.extend(chars.next().map(|(_, char)| char));
                }
                char => text.push(char),
            }
        }
        self.0 = &quoted[end..];
        Some((name, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundary_is_read_from_form_data_only() {
        for (content_type, expected) in [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"", Some("a b")),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", None),
            ("multipart/form-data; boundary=\"a\r\nb\"", None),
            ("multipart/mixed; boundary=abc", None),
            ("application/json; boundary=abc", None),
        ] {
            assert_eq!(boundary(content_type).as_deref(), expected, "{content_type}");
        }
        assert_eq!(boundary(&format!("multipart/form-data; boundary={}", "a".repeat(71))), None);
    }

    #[test]
    fn part_has_the_field_name_and_the_file_name_of_its_headers() {
        let check = |header: &str, name: Option<&str>, file: Option<&str>| {
            let headers = format!("\r\ncontent-disposition: {header}\r\nContent-Type: text/html");
            let part = parse_part(headers.as_bytes());
            assert_eq!(part.as_ref().map(|part| part.name.as_str()), name, "{header}");
            assert_eq!(part.and_then(|part| part.file_name).as_deref(), file, "{header}");
        };
        check("form-data; name=\"file\"; filename=\"a.pdf\"", Some("file"), Some("a.pdf"));
        check("form-data; name=file; filename=a.pdf", Some("file"), Some("a.pdf"));
        check("form-data; name=\"file\"; filename=\"a \\\"b\\\".pdf\"", Some("file"), Some("a \"b\".pdf"));
        check("form-data; name=\"file\"; filename=\"C:\\tmp\\a.pdf\"", Some("file"), Some("C:\\tmp\\a.pdf"));
        check(
            "form-data; name=\"file\"; filename=\"x\"; filename*=UTF-8''caf%C3%A9%.pdf",
            Some("file"),
            Some("café%.pdf"),
        );
        check("form-data; name=\"options\"", Some("options"), None);
        check("form-data; filename=\"a.pdf\"", None, None);
        check("attachment; name=\"file\"", None, None);
        check("form-data; name=\"never ends", Some("never ends"), None);
    }
}
