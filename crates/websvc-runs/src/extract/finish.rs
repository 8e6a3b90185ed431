//! The end of an extraction: its data is checked against the schema, and corrected once.

use serde_json::Value;
use websvc_agent::{Corrected, correct_data, has_values, optional_schema};
use websvc_model::{Model, Usage};
use websvc_store::RunStatus;

use super::pages::{Pages, model_failure, named};
use super::{Extraction, Outcome};
use crate::environment::rank::violation;

impl Extraction<'_> {
    /// Checks the merged data, lets the model correct it once, and ends the extraction.
    pub(super) async fn finish_data(&self, model: &dyn Model, mut pages: Pages) -> Outcome {
        let failed = |error: String, pages: Pages| {
            let extraction = pages.into_extraction(self, false);
            Outcome::Failed { status: RunStatus::Failed, error, extraction }
        };
        if !pages.draft.has_values() {
            return failed(pages.no_data(), pages);
        }
        match self.check(model, &mut pages).await {
            Ok(()) => {
                pages.warn_of_failures();
                let read = pages.read;
                Outcome::Extracted { extraction: pages.into_extraction(self, true), pages: read }
            }
            Err(violation) => failed(format!("the data does not follow the schema: {violation}"), pages),
        }
    }

    /// Makes the data follow the schema, apart from required values that no page states, which a warning names.
    async fn check(&self, model: &dyn Model, pages: &mut Pages) -> Result<(), String> {
        let Some(schema) = &self.plan.schema else { return Ok(()) };
        let mut data = pages.draft.data().clone();
        let mut found = violation_without_nulls(schema, &mut data).await;
        let optional = optional_schema(schema);
        if let Some(first) = &found
            && violation_without_nulls(&optional, &mut data).await.is_some()
        {
            data = self.corrected(model, schema, &data, first, &mut pages.usage).await?;
            if !has_values(&data) {
                return Err(format!("{first}; its correction has no values"));
            }
            found = violation_without_nulls(schema, &mut data).await;
            if let Some(second) = violation_without_nulls(&optional, &mut data).await {
                return Err(second);
            }
        }
        let lost = pages.draft.replace(data);
        if !lost.is_empty() {
            let lost = named(&lost, ", ");
            pages
                .warnings
                .push(format!("the correction of the data by the language model left out values: {lost}"));
        }
        if let Some(missing) = found {
            pages
                .warnings
                .push(format!("the pages do not state all values that the schema requires: {missing}"));
        }
        Ok(())
    }

    /// Asks the model to correct data with a violation of the schema.
    async fn corrected(
        &self,
        model: &dyn Model,
        schema: &Value,
        data: &Value,
        violation: &str,
        usage: &mut Usage,
    ) -> Result<Value, String> {
        let corrected = correct_data(model, &self.prompt, schema, data, violation, self.deadline).await;
        let Corrected { data, usage: of_correction } = corrected.map_err(|error| {
            format!("{violation}; the language model failed: {}", model_failure(&error, self.deadline))
        })?;
        usage.add(of_correction);
        data.map_err(|reason| format!("{violation}; the correction cannot be used: {reason}"))
    }
}

/// Returns the violation of the schema by the data. Nulls, which the model gives for values that a page does not state,
/// are left out if the data follows the schema without them.
async fn violation_without_nulls(schema: &Value, data: &mut Value) -> Option<String> {
    let found = violation(schema, data).await?;
    let filled = without_nulls(data.clone());
    if violation(schema, &filled).await.is_some() {
        return Some(found);
    }
    *data = filled;
    None
}

/// Returns data without the fields of objects that are null.
fn without_nulls(data: Value) -> Value {
    match data {
        Value::Object(fields) => {
            let filled = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(filled.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => scalar,
    }
}
