//! A row of the specification, and how it is proven.

use std::fmt::Debug;

use serde::Serialize;
use serde_json::{Value, json};
use websvc_types::ViolationCode;
use websvc_validate::{FeaturePolicy, Policy, ScrapePlan, SearchPlan, ThreatOverride, ThreatPolicy};

use super::case::{Case, Expected, Reading};
use super::json::{Json, Shown, Written};

/// A part of the specification.
pub(crate) struct Section {
    /// Its number.
    pub(crate) number: &'static str,
    /// Title of the row.
    pub(crate) title: &'static str,
    /// The test that runs its cases.
    pub(crate) test: &'static str,
    /// Its rows, in the order of the specification.
    pub(crate) rows: Vec<Row>,
}

/// A row, rule or limit of the specification.
pub(crate) struct Row {
    /// The specification's own name of it.
    pub(crate) name: &'static str,
    /// Requirement, in our own words.
    pub(crate) rule: &'static str,
    /// Bodies, and what becomes of them.
    pub(crate) cases: Vec<Case>,
    /// Tests elsewhere that prove it: crate and name.
    pub(crate) tests: Vec<(&'static str, &'static str)>,
    /// Parts that are not implemented yet.
    pub(crate) later: Vec<&'static str>,
    place: Place,
    policy: Policy,
}

/// A place in a body: its pointer, and the body with `@` in its stead.
#[derive(Clone)]
pub(crate) struct Place {
    pointer: String,
    template: String,
}

/// Begins a row.
pub(crate) fn row(name: &'static str, rule: &'static str) -> Row {
    let (cases, tests, later) = (Vec::new(), Vec::new(), Vec::new());
    Row { name, rule, cases, tests, later, place: body(), policy: Policy::default() }
}

/// Returns the whole body.
pub(crate) fn body() -> Place {
    Place { pointer: String::new(), template: "@".to_owned() }
}

/// Returns a field of the search.
pub(crate) fn search(field: &str) -> Place {
    let query = if field == "query" { "" } else { r#""query":"q","# };
    Place { pointer: format!("/{field}"), template: format!(r#"{{{query}"{field}":@}}"#) }
}

/// Returns a field of the scrape options, beside the format markdown.
pub(crate) fn scrape(field: &str) -> Place {
    let markdown = if field == "formats" { "" } else { r#""formats":["markdown"],"# };
    let template = format!(r#"{{"query":"q","scrapeOptions":{{{markdown}"{field}":@}}}}"#);
    Place { pointer: format!("/scrapeOptions/{field}"), template }
}

/// Returns the only item of a list of the scrape options.
pub(crate) fn item(list: &str) -> Place {
    let Place { pointer, template } = scrape(list);
    Place { pointer: format!("{pointer}/0"), template: template.replace('@', "[@]") }
}

/// Returns a field of an object with this `type`, the only item of a list of the scrape options.
pub(crate) fn option(list: &str, kind: &str, field: &str) -> Place {
    let Place { pointer, template } = item(list);
    let object = format!(r#"{{"type":"{kind}","{field}":@}}"#);
    Place { pointer: format!("{pointer}/{field}"), template: template.replace('@', &object) }
}

/// Returns a field of an object in the scrape options.
pub(crate) fn inside(object: &str, field: &str) -> Place {
    let Place { pointer, template } = scrape(object);
    let fields = format!(r#"{{"{field}":@}}"#);
    Place { pointer: format!("{pointer}/{field}"), template: template.replace('@', &fields) }
}

/// Returns a field of the search's threat protection.
pub(crate) fn threat(field: &str) -> Place {
    let Place { pointer, template } = search("threatProtection");
    let fields = format!(r#"{{"{field}":@}}"#);
    Place { pointer: format!("{pointer}/{field}"), template: template.replace('@', &fields) }
}

/// Returns how pages are scraped by a plan that asks for it.
pub(crate) fn page(plan: &SearchPlan) -> &ScrapePlan {
    plan.scrape().expect("the case asks for a format")
}

/// Returns the policy of a team that may do everything.
pub(crate) fn everything() -> Policy {
    Policy {
        zdr: FeaturePolicy::Allowed,
        anon: FeaturePolicy::Allowed,
        threat: ThreatPolicy::On,
        threat_override: ThreatOverride::Allowed,
        ..Policy::default()
    }
}

impl Row {
    /// Puts the values of the following cases to a place.
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Has the following cases sent by a team of this policy.
    pub(crate) fn by(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The value is accepted without a warning.
    pub(crate) fn ok(self, value: impl Json) -> Self {
        self.case(value.written(), Expected::Accepted { warning: None, reading: None })
    }

    /// The value is accepted, with one warning that holds these words.
    pub(crate) fn warns(self, value: impl Json, words: &'static str) -> Self {
        self.case(value.written(), Expected::Accepted { warning: Some(words), reading: None })
    }

    /// The value breaks this rule and no other.
    pub(crate) fn bad(self, value: impl Json, code: ViolationCode) -> Self {
        self.bad_in(value, &[("", code)])
    }

    /// The value breaks exactly these rules, by paths below the place.
    pub(crate) fn bad_in(self, value: impl Json, rules: &[(&str, ViolationCode)]) -> Self {
        let pointer = &self.place.pointer;
        let rules = rules.iter().map(|(below, code)| (format!("{pointer}{below}"), *code)).collect();
        self.case(value.written(), Expected::Refused(rules))
    }

    /// The team may not send the value.
    pub(crate) fn forbidden(self, value: impl Json) -> Self {
        self.case(value.written(), Expected::Forbidden)
    }

    /// The body with the value is no JSON that can be read.
    pub(crate) fn unreadable(self, value: impl Json) -> Self {
        self.case(value.written(), Expected::Unreadable)
    }

    /// The value is accepted and becomes this in the plan.
    pub(crate) fn reads<T: PartialEq + Debug + 'static>(
        self,
        value: impl Json,
        read: impl Fn(&SearchPlan) -> T + 'static,
        expected: T,
    ) -> Self {
        let reading = Some(Reading::new(read, expected));
        self.case(value.written(), Expected::Accepted { warning: None, reading })
    }

    /// The value is accepted and becomes this in the plan, as JSON.
    pub(crate) fn becomes<T: Serialize>(
        self,
        value: impl Json,
        read: impl Fn(&SearchPlan) -> T + 'static,
        expected: Value,
    ) -> Self {
        let read = move |plan: &SearchPlan| Shown(serde_json::to_value(read(plan)).expect("plans are JSON"));
        self.reads(value, read, Shown(expected))
    }

    /// The value is accepted with one warning that holds these words, and becomes this in the plan.
    pub(crate) fn reads_with_warning<T: PartialEq + Debug + 'static>(
        self,
        value: impl Json,
        words: &'static str,
        read: impl Fn(&SearchPlan) -> T + 'static,
        expected: T,
    ) -> Self {
        let reading = Some(Reading::new(read, expected));
        self.case(value.written(), Expected::Accepted { warning: Some(words), reading })
    }

    /// When the place is left out, or null, the plan has this.
    pub(crate) fn default<T: PartialEq + Debug + Clone + 'static>(
        mut self,
        read: impl Fn(&SearchPlan) -> T + Clone + 'static,
        expected: T,
    ) -> Self {
        let field = self.place.pointer.rsplit('/').next().unwrap_or_default();
        let with_null = self.place.template.replace('@', "null");
        let without = with_null.replace(&format!(r#","{field}":null"#), "");
        assert_ne!(with_null, without, "{}: the field can be left out", self.name);
        let (policy, pointer) = (self.policy.clone(), &self.place.pointer);
        let case = |label, body, reading| {
            let expected = Expected::Accepted { warning: None, reading: Some(reading) };
            Case { label, pointer: pointer.clone(), body, policy: policy.clone(), expected }
        };
        let label = format!("{}nothing or `null`", self.field());
        let both = [
            case(Some(label), without, Reading::new(read.clone(), expected.clone())),
            case(None, with_null, Reading::new(read, expected)),
        ];
        self.cases.extend(both);
        self
    }

    /// A test elsewhere proves a part of the row.
    pub(crate) fn tested(mut self, in_crate: &'static str, name: &'static str) -> Self {
        self.tests.push((in_crate, name));
        self
    }
    /// A part of the row is not there yet.
    pub(crate) fn later(mut self, what: &'static str) -> Self {
        self.later.push(what);
        self
    }

    fn case(mut self, value: Written, expected: Expected) -> Self {
        let Written { text, shown } = value;
        let body = self.place.template.replace('@', &text);
        let label = Some(format!("{}`{shown}`", self.field()));
        let pointer = self.place.pointer.clone();
        self.cases.push(Case { label, pointer, body, policy: self.policy.clone(), expected });
        self
    }

    /// Returns the field that the cases are about, where the name of the row does not say so.
    fn field(&self) -> String {
        match self.place.pointer.rsplit('/').next().unwrap_or_default() {
            "" | "query" => String::new(),
            item if item.starts_with(|letter: char| letter.is_ascii_digit()) => String::new(),
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
