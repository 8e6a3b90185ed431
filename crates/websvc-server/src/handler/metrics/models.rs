//! Metrics of the language models.

use websvc_model::{EndpointMetrics, FeatureMetrics, ModelMetrics};

use super::prometheus::{MetricKind, Metrics};

pub(super) fn models(out: &mut Metrics, metrics: &ModelMetrics<'_>) {
    requests(out, metrics.features);
    endpoints(out, &metrics.endpoints);
}

fn requests(out: &mut Metrics, features: &[FeatureMetrics]) {
    let help = "Requests to the language model by feature and outcome.";
    let family = out.family("websvc_llm_requests_total", MetricKind::Counter, help);
    for FeatureMetrics { feature, outcomes, .. } in features {
        for (outcome, count) in outcomes.counts() {
            family.sample(&[("feature", feature.name()), ("outcome", outcome)], count);
        }
    }
    let help = "Attempts of requests to the language model after a failed one, at the same endpoint.";
    let family = out.family("websvc_llm_retries_total", MetricKind::Counter, help);
    for FeatureMetrics { feature, retries, .. } in features {
        family.sample(&[("feature", feature.name())], retries);
    }
    let help = "Tokens of requests to the language model and of its responses, as it reports them.";
    let family = out.family("websvc_llm_tokens_total", MetricKind::Counter, help);
    for FeatureMetrics { feature, input_tokens, output_tokens, .. } in features {
        for (direction, tokens) in [("input", input_tokens), ("output", output_tokens)] {
            family.sample(&[("feature", feature.name()), ("direction", direction)], tokens);
        }
    }
    let help = "Durations of requests to the language model, with the wait for a place and retries.";
    let family = out.family("websvc_llm_request_duration_seconds", MetricKind::Histogram, help);
    for FeatureMetrics { feature, durations, .. } in features {
        family.distribution(Some(("feature", feature.name())), &durations.distribution());
    }
}

fn endpoints(out: &mut Metrics, endpoints: &[(&EndpointMetrics, bool)]) {
    let help = "Requests to an endpoint of the language model by outcome.";
    let family = out.family("websvc_llm_endpoint_requests_total", MetricKind::Counter, help);
    for (index, (EndpointMetrics { answered, failed, skipped }, _)) in endpoints.iter().enumerate() {
        for (outcome, count) in [("answered", answered), ("failed", failed), ("skipped", skipped)] {
            family.sample(&[("endpoint", &index.to_string()), ("outcome", outcome)], count);
        }
    }
    let help = "1 while an endpoint of the language model is skipped, because it has failed.";
    let family = out.family("websvc_llm_endpoint_paused", MetricKind::Gauge, help);
    for (index, (_, is_paused)) in endpoints.iter().enumerate() {
        family.sample(&[("endpoint", &index.to_string())], u8::from(*is_paused));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use websvc_model::{Feature, Usage};

    use super::*;

    #[test]
    fn requests_and_endpoints_are_samples() {
        let judge = FeatureMetrics::new(Feature::Judge);
        judge.outcomes.add("answered", 3);
        judge.outcomes.add("timeout", 1);
        judge.retries.add(2);
        judge.count_tokens(Usage { input_tokens: 500, output_tokens: 60 });
        judge.durations.count(Duration::from_secs(600));
        judge.durations.count(Duration::from_millis(700_500));
        let endpoint = EndpointMetrics::default();
        endpoint.skipped.add(5);
        let metrics = ModelMetrics { features: &[judge], endpoints: vec![(&endpoint, true)] };
        let mut out = Metrics::default();
        models(&mut out, &metrics);
        let text = out.write();
        for line in [
            "websvc_llm_requests_total{feature=\"judge\",outcome=\"timeout\"} 1",
            "websvc_llm_retries_total{feature=\"judge\"} 2",
            "websvc_llm_tokens_total{feature=\"judge\",direction=\"output\"} 60",
            "websvc_llm_request_duration_seconds_bucket{feature=\"judge\",le=\"600\"} 1",
            "websvc_llm_request_duration_seconds_sum{feature=\"judge\"} 1300.5",
            "websvc_llm_endpoint_requests_total{endpoint=\"0\",outcome=\"skipped\"} 5",
            "websvc_llm_endpoint_paused{endpoint=\"0\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
