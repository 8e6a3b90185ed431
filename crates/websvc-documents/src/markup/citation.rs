//! Writes the entries of a bibliography whose parts have no punctuation.

use crate::error::DocumentError;
use crate::xml::{Token, Xml};

/// Reads the entry whose start tag was read, and returns its authors, titles, source and numbers as one text.
pub(super) fn read(xml: &mut Xml<'_>, element: &str) -> Result<String, DocumentError> {
    let mut pieces: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut name: Vec<String> = Vec::new();
    while let Some(token) = xml.next()? {
        match token {
            Token::End(end) if end == element => break,
            Token::End(end) if matches!(end.as_str(), "name" | "persName" | "personname" | "author") => {
                end_name(&mut name, &mut names);
            }
            Token::End(_) => {}
            Token::Text(text) => {
                let text = text.trim();
                if text.chars().any(char::is_alphanumeric) {
                    end_name(&mut name, &mut names);
                    pieces.append(&mut names);
                    pieces.push(text.to_owned());
                }
            }
            Token::Start(tag) => match tag.name.as_str() {
                "surname" => name.insert(0, xml.text()?.trim().to_owned()),
                "given-names" | "forename" | "firstname" => name.push(xml.text()?.trim().to_owned()),
                "idno" | "pub-id" | "ptr" | "note" | "object-id" => xml.skip()?,
                _ => {
                    if let Some(when) = tag.get("when").filter(|_| tag.name == "date") {
                        pieces.push(when.to_owned());
                    }
                }
            },
        }
    }
    end_name(&mut name, &mut names);
    pieces.append(&mut names);
    Ok(pieces.join(", "))
}

fn end_name(name: &mut Vec<String>, names: &mut Vec<String>) {
    if !name.is_empty() {
        names.push(std::mem::take(name).join(" "));
    }
}
