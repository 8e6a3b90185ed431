//! Parser of the JavaScript literals that pages assign to variables: JSON with unquoted keys, single quotes, trailing
//! commas, `undefined`, `!0` and comments.
//!
//! No code is run. An expression that is not a literal ends the value, which is then not used.

use serde_json::{Map, Number, Value};

/// Maximum depth of a literal.
const MAX_DEPTH: usize = 100;

/// Key of the object that stands for a variable, until its value is known.
const VARIABLE: &str = "\u{0}variable";

/// Parses the literal at the start of `source`. Returns it, or `None` if it is not a literal, and the text after the part
/// that was read.
pub(super) fn parse(source: &str) -> (Option<Value>, &str) {
    let mut parser = Parser { rest: source };
    let value = parser.value(0);
    (value, parser.rest)
}

/// Parses a call such as `(function(a,b){return {x:a}}(1,2))`, as Nuxt 2 writes its state: a literal with variables, and
/// their values.
pub(super) fn parse_call(source: &str) -> Option<Value> {
    let mut parser = Parser { rest: source };
    parser.expect("(")?;
    parser.expect("function")?;
    parser.expect("(")?;
    let (names, rest) = parser.rest.split_once(')')?;
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    parser.rest = rest;
    parser.expect("{")?;
    parser.expect("return")?;
    let body = parser.value(0)?;
    parser.skip(";");
    parser.expect("}")?;
    parser.skip(")");
    parser.expect("(")?;
    let mut values = Vec::new();
    while !parser.skip(")") {
        values.push(parser.value(0)?);
        parser.skip(",");
    }
    let variables: Map<String, Value> = names.into_iter().map(str::to_owned).zip(values).collect();
    let mut budget = source.len();
    Some(substituted(body, &variables, &mut budget))
}

/// Replaces the variables of a literal. Each copy of a value is taken from `budget`, so that the result is not much
/// larger than the source.
fn substituted(value: Value, variables: &Map<String, Value>, budget: &mut usize) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| substituted(item, variables, budget)).collect(),
        Value::Object(object) => {
            if let Some(name) = object.get(VARIABLE).and_then(Value::as_str) {
                let value = variables.get(name).unwrap_or(&Value::Null);
                return match budget.checked_sub(weight(value)) {
                    Some(left) => {
                        *budget = left;
                        value.clone()
                    }
                    None => Value::Null,
                };
            }
            object.into_iter().map(|(key, inner)| (key, substituted(inner, variables, budget))).collect()
        }
        other => other,
    }
}

/// Returns the approximate number of bytes of a value.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => 8 + text.len(),
        Value::Array(items) => 8 + items.iter().map(weight).sum::<usize>(),
        Value::Object(object) => {
            8 + object.iter().map(|(key, inner)| key.len() + weight(inner)).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Skips white space and comments.
    fn trim(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let end = if self.rest.starts_with("//") {
                self.rest.find('\n')
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map(|at| at + 2)
            } else {
                return;
            };
            self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
        }
    }

    fn skip(&mut self, token: &str) -> bool {
        self.trim();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        self.skip(token).then_some(())
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.trim();
        match self.rest.chars().next()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' | '\'' | '`' => self.string().map(Value::String),
            '!' => {
                self.rest = &self.rest[1..];
                Some(Value::Bool(!is_true(&self.value(depth + 1)?)))
            }
            c if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            _ => self.word(depth),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.expect("{")?;
        let mut object = Map::new();
        while !self.skip("}") {
            let key = match self.rest.chars().next()? {
                '"' | '\'' => self.string()?,
                _ => self.identifier()?.to_owned(),
            };
            self.expect(":")?;
            object.insert(key, self.value(depth + 1)?);
            if !self.skip(",") {
                self.expect("}")?;
                break;
            }
        }
        Some(Value::Object(object))
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.expect("[")?;
        let mut items = Vec::new();
        while !self.skip("]") {
            if self.skip(",") {
                items.push(Value::Null);
                continue;
            }
            items.push(self.value(depth + 1)?);
            if !self.skip(",") {
                self.expect("]")?;
                break;
            }
        }
        Some(Value::Array(items))
    }

    /// Reads a string. The text up to a mistake counts as read too, so that it is charged to the budget of the page.
    fn string(&mut self) -> Option<String> {
        let mut chars = self.rest.char_indices();
        let (_, quote) = chars.next()?;
        let mut out = String::new();
        let mut is_closed = false;
        while let Some((_, c)) = chars.next() {
            match c {
                c if c == quote => {
                    is_closed = true;
                    break;
                }
                // A template with an expression is code.
                '$' if quote == '`' => break,
                '\\' if escape(&mut chars, &mut out).is_none() => break,
                '\\' => {}
                c => out.push(c),
            }
        }
        self.rest = &self.rest[chars.offset()..];
        is_closed.then_some(out)
    }

    fn number(&mut self) -> Option<Value> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let text = text.trim_start_matches('+');
        if let Ok(whole) = text.parse::<i64>() {
            return Some(Value::Number(whole.into()));
        }
        Number::from_f64(text.parse().ok()?).map(Value::Number)
    }

    fn identifier(&mut self) -> Option<&'a str> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!name.is_empty()).then_some(name)
    }

    fn word(&mut self, depth: usize) -> Option<Value> {
        let name = self.identifier()?;
        match name {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" | "undefined" | "NaN" => Some(Value::Null),
            "void" => self.value(depth + 1).map(|_| Value::Null),
            "JSON" if self.skip(".parse(") => {
                self.trim();
                let text = self.string()?;
                self.expect(")")?;
                serde_json::from_str(&text).ok()
            }
            // The name of a parameter stands for its value; a call or an access to a field is code.
            _ if matches!(self.rest.bytes().next(), Some(b',' | b'}' | b']' | b')' | b' ' | b'\n')) => {
                let variable = Map::from_iter([(VARIABLE.to_owned(), Value::String(name.to_owned()))]);
                Some(Value::Object(variable))
            }
            _ => None,
        }
    }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Reads an escape sequence of a string.
fn escape(chars: &mut std::str::CharIndices<'_>, out: &mut String) -> Option<()> {
    let (_, c) = chars.next()?;
    let code = |chars: &mut std::str::CharIndices<'_>, length: usize| -> Option<u32> {
        let digits: String = chars.by_ref().take(length).map(|(_, c)| c).collect();
        u32::from_str_radix(&digits, 16).ok()
    };
    match c {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' | 'b' | 'f' | 'v' | '\n' => out.push(' '),
        'x' => out.push(char::from_u32(code(chars, 2)?)?),
        'u' => {
            let mut unit = code(chars, 4)?;
            if (0xd800..0xdc00).contains(&unit) {
                let mut ahead = chars.clone();
                if ahead.next()?.1 == '\\' && ahead.next()?.1 == 'u' {
                    let low = code(&mut ahead, 4)?;
                    *chars = ahead;
                    unit = 0x10000 + ((unit - 0xd800) << 10) + low.checked_sub(0xdc00)?;
                }
            }
            out.push(char::from_u32(unit).unwrap_or('\u{fffd}'));
        }
        c => out.push(c),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(source: &str, expected: Option<&Value>) {
        assert_eq!(parse(source).0.as_ref(), expected, "{source}");
    }

    #[test]
    fn literals_are_read() {
        check(
            "{a:1,'b':\"x\",c:[1,,2,],/* note */ d:!0,e:void 0,}",
            Some(&json!({
                "a": 1, "b": "x", "c": [1, null, 2], "d": true, "e": null
            })),
        );
        check(r#"{"a":"\u00e9\x41\"","b":-1.5e2}; next()"#, Some(&json!({"a": "éA\"", "b": -150.0})));
        check(r#"JSON.parse('{"a":[1]}')"#, Some(&json!({"a": [1]})));
        check("`plain`", Some(&json!("plain")));
    }

    #[test]
    fn code_is_not_read() {
        for source in
            ["{a: run()}", "{a: b.c}", "`${x}`", "{a:", "{a 1}", "function(){}", "", "[1", "{a: 1 + 2}"]
        {
            check(source, None);
        }
        check(&"[".repeat(1_000), None);
    }

    #[test]
    fn text_of_a_broken_string_is_read() {
        for (source, rest) in
            [("'never closed", ""), ("`a${x}`", "{x}`"), (r"'a\x", ""), (r#"["a", "b\u00"#, "")]
        {
            assert_eq!(parse(source), (None, rest), "{source}");
        }
        assert_eq!(parse("'closed' rest"), (Some(json!("closed")), " rest"));
    }

    #[test]
    fn parameters_of_a_call_are_replaced() {
        let source = r#"(function(a,b){return {name:a,list:[b,{inner:a}],other:c}}("Tea",5))"#;
        let expected = json!({"name": "Tea", "list": [5, {"inner": "Tea"}], "other": null});
        assert_eq!(parse_call(source), Some(expected));
        assert_eq!(parse_call("(function(a){while(1){}}(1))"), None);
    }

    #[test]
    fn copies_of_a_parameter_are_limited() {
        let long = "x".repeat(10_000);
        let source = format!("(function(a){{return [{}]}}(\"{long}\"))", "a,".repeat(10_000));
        let value = parse_call(&source).unwrap();
        assert!(weight(&value) < 4 * source.len());
    }
}
