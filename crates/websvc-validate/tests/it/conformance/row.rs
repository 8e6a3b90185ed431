//! Row of the conformance table, with its cases and tests.

use std::fmt::Debug;

use serde::Serialize;
use serde_json::{Value, json};
use websvc_types::ViolationCode;
use websvc_validate::{FeaturePolicy, Policy, ScrapePlan, SearchPlan, ThreatOverride, ThreatPolicy};

use super::case::{Case, Expected, Reading};
use super::json::{AsJson, CaseValue, Json};

/// Section of the specification.
pub(crate) struct Section {
    /// Number of the section.
    pub(crate) number: &'static str,
    /// Title of the section.
    pub(crate) title: &'static str,
    /// Name of the test that runs the cases.
    pub(crate) test: &'static str,
    /// Rows in the order of the specification.
    pub(crate) rows: Vec<Row>,
}

/// Row, rule or limit of the specification.
pub(crate) struct Row {
    /// Name in the specification.
    pub(crate) name: &'static str,
    /// Requirement in other words.
    pub(crate) rule: &'static str,
    /// Cases of the row.
    pub(crate) cases: Vec<Case>,
    /// Other tests of the row: crate and function.
    pub(crate) tests: Vec<(&'static str, &'static str)>,
    /// Parts that are not implemented yet.
    pub(crate) planned: Vec<&'static str>,
    /// Location of the values of the following cases.
    place: Place,
    /// Policy of the team in the following cases.
    policy: Policy,
}

/// Location in a body: its JSON Pointer, and a body with `@` at the location.
#[derive(Clone)]
pub(crate) struct Place {
    pointer: String,
    template: String,
}

/// Creates a row.
pub(crate) fn row(name: &'static str, rule: &'static str) -> Row {
    let (cases, tests, planned) = (Vec::new(), Vec::new(), Vec::new());
    Row { name, rule, cases, tests, planned, place: body(), policy: Policy::default() }
}

/// Returns the location of the whole body.
pub(crate) fn body() -> Place {
    Place { pointer: String::new(), template: "@".to_owned() }
}

/// Returns the location of a field of the search.
pub(crate) fn search(field: &str) -> Place {
    let query = if field == "query" { "" } else { r#""query":"q","# };
    Place { pointer: format!("/{field}"), template: format!(r#"{{{query}"{field}":@}}"#) }
}

/// Returns the location of a field of the scrape options, which also have the format markdown.
pub(crate) fn scrape(field: &str) -> Place {
    let markdown = if field == "formats" { "" } else { r#""formats":["markdown"],"# };
    let template = format!(r#"{{"query":"q","scrapeOptions":{{{markdown}"{field}":@}}}}"#);
    Place { pointer: format!("/scrapeOptions/{field}"), template }
}

/// Returns the location of the only item of a list in the scrape options.
pub(crate) fn item(list: &str) -> Place {
    let Place { pointer, template } = scrape(list);
    Place { pointer: format!("{pointer}/0"), template: template.replace('@', "[@]") }
}

/// Returns the location of a field of an object with this `type`, the only item of a list in the scrape options.
pub(crate) fn option(list: &str, kind: &str, field: &str) -> Place {
    let Place { pointer, template } = item(list);
    let object = format!(r#"{{"type":"{kind}","{field}":@}}"#);
    Place { pointer: format!("{pointer}/{field}"), template: template.replace('@', &object) }
}

/// Returns the location of a field of an object in the scrape options.
pub(crate) fn inside(object: &str, field: &str) -> Place {
    let Place { pointer, template } = scrape(object);
    let fields = format!(r#"{{"{field}":@}}"#);
    Place { pointer: format!("{pointer}/{field}"), template: template.replace('@', &fields) }
}

/// Returns the location of a field of the threat protection of the search.
pub(crate) fn threat(field: &str) -> Place {
    let Place { pointer, template } = search("threatProtection");
    let fields = format!(r#"{{"{field}":@}}"#);
    Place { pointer: format!("{pointer}/{field}"), template: template.replace('@', &fields) }
}

/// Returns the plan for scraping pages.
pub(crate) fn page(plan: &SearchPlan) -> &ScrapePlan {
    plan.scrape.as_ref().expect("the case has formats")
}

/// Returns a policy that allows everything.
pub(crate) fn everything() -> Policy {
    Policy {
        zdr: FeaturePolicy::Allowed,
        anon: FeaturePolicy::Allowed,
        threat: ThreatPolicy::On,
        threat_override: ThreatOverride::Allowed,
        ..Policy::default()
    }
}

impl Place {
    /// Returns the location with the format markdown after the item of its list.
    pub(crate) fn with_markdown(self) -> Self {
        let Self { pointer, template } = self;
        Self { pointer, template: template.replacen(']', r#","markdown"]"#, 1) }
    }
}

impl Row {
    /// Sets the location of the values of the following cases.
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Sets the policy of the following cases.
    pub(crate) fn by(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Adds a case: the value is accepted without a warning.
    pub(crate) fn ok(self, value: impl Json) -> Self {
        self.case(value.case_value(), Expected::Accepted { warning: None, reading: None })
    }

    /// Adds a case: the value is accepted with one warning that contains `words`.
    pub(crate) fn warns(self, value: impl Json, words: &'static str) -> Self {
        self.case(value.case_value(), Expected::Accepted { warning: Some(words), reading: None })
    }

    /// Adds a case: the value has this violation and no other.
    pub(crate) fn bad(self, value: impl Json, code: ViolationCode) -> Self {
        self.bad_in(value, &[("", code)])
    }

    /// Adds a case: the value has exactly these violations. Paths are relative to the location.
    pub(crate) fn bad_in(self, value: impl Json, rules: &[(&str, ViolationCode)]) -> Self {
        let pointer = &self.place.pointer;
        let rules = rules.iter().map(|(below, code)| (format!("{pointer}{below}"), *code)).collect();
        self.case(value.case_value(), Expected::Invalid(rules))
    }

    /// Adds a case: the team lacks the permission for the value.
    pub(crate) fn forbidden(self, value: impl Json) -> Self {
        self.case(value.case_value(), Expected::Forbidden)
    }

    /// Adds a case: the body with the value is not valid JSON.
    pub(crate) fn malformed(self, value: impl Json) -> Self {
        self.case(value.case_value(), Expected::Malformed)
    }

    /// Adds a case: the value is accepted, and `read` returns `expected` for the plan.
    pub(crate) fn reads<T: PartialEq + Debug + 'static>(
        self,
        value: impl Json,
        read: impl Fn(&SearchPlan) -> T + 'static,
        expected: T,
    ) -> Self {
        let reading = Some(Reading::new(read, expected));
        self.case(value.case_value(), Expected::Accepted { warning: None, reading })
    }

    /// Adds a case: the value is accepted, and `read` returns a value for the plan that is `expected` as JSON.
    pub(crate) fn becomes<T: Serialize>(
        self,
        value: impl Json,
        read: impl Fn(&SearchPlan) -> T + 'static,
        expected: Value,
    ) -> Self {
        let read = move |plan: &SearchPlan| AsJson(serde_json::to_value(read(plan)).expect("plans are JSON"));
        self.reads(value, read, AsJson(expected))
    }

    /// Adds a case: the value is accepted with one warning that contains `words`, and `read` returns `expected`.
    pub(crate) fn reads_with_warning<T: PartialEq + Debug + 'static>(
        self,
        value: impl Json,
        words: &'static str,
        read: impl Fn(&SearchPlan) -> T + 'static,
        expected: T,
    ) -> Self {
        let reading = Some(Reading::new(read, expected));
        self.case(value.case_value(), Expected::Accepted { warning: Some(words), reading })
    }

    /// Adds two cases: without the field, and with null, `read` returns `expected` for the plan.
    pub(crate) fn default<T: PartialEq + Debug + Clone + 'static>(
        mut self,
        read: impl Fn(&SearchPlan) -> T + Clone + 'static,
        expected: T,
    ) -> Self {
        let field = self.place.pointer.rsplit('/').next().unwrap_or_default();
        let with_null = self.place.template.replace('@', "null");
        let without = with_null.replace(&format!(r#","{field}":null"#), "");
        assert_ne!(with_null, without, "{}: the field cannot be omitted", self.name);
        let (policy, pointer) = (self.policy.clone(), &self.place.pointer);
        let case = |label, body, reading| {
            let expected = Expected::Accepted { warning: None, reading: Some(reading) };
            Case { label, pointer: pointer.clone(), body, policy: policy.clone(), expected }
        };
        let label = format!("{}absent or `null`", self.field());
        let both = [
            case(Some(label), without, Reading::new(read.clone(), expected.clone())),
            case(None, with_null, Reading::new(read, expected)),
        ];
        self.cases.extend(both);
        self
    }

    /// Adds another test of the row.
    pub(crate) fn tested(mut self, in_crate: &'static str, name: &'static str) -> Self {
        self.tests.push((in_crate, name));
        self
    }

    /// Adds a part of the row that is not implemented yet.
    #[expect(dead_code, reason = "every part is implemented; the next field of the specification needs it")]
    pub(crate) fn planned(mut self, part: &'static str) -> Self {
        self.planned.push(part);
        self
    }

    fn case(mut self, value: CaseValue, expected: Expected) -> Self {
        let CaseValue { json, label } = value;
        let body = self.place.template.replace('@', &json);
        let label = Some(format!("{}`{label}`", self.field()));
        let pointer = self.place.pointer.clone();
        self.cases.push(Case { label, pointer, body, policy: self.policy.clone(), expected });
        self
    }

    /// Returns the name of the field that the cases are about, unless it is in the name of the row.
    fn field(&self) -> String {
        match self.place.pointer.rsplit('/').next().unwrap_or_default() {
            "" | "query" => String::new(),
            item if item.starts_with(|first: char| first.is_ascii_digit()) => String::new(),
            field if self.name.contains(field) => String::new(),
            field => format!("{field} "),
        }
    }
}

/// Returns an object with `type` and one more field.
pub(crate) fn typed(kind: &str, field: &str, value: impl Into<Value>) -> Value {
    let value: Value = value.into();
    json!({ "type": kind, field: value })
}
