//! Arbitrary answers of a model: the run ends within its bounds and without a panic.

use proptest::prelude::*;
use serde_json::{Value, json};
use websvc_agent::{AgentEffort, AgentTask, TaskLimits, run_task};

use crate::fixture::{FakeWeb, Kind, ScriptedModel, object, task};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!("p1")),
        Just(json!("http://a.test/")),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(
                prop_oneof![Just("name".to_owned()), Just("teas".to_owned()), "\\PC{0,4}"],
                inner,
                0..5
            )
            .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn any_decision() -> impl Strategy<Value = Value> {
    let actions = [
        "search",
        "map",
        "open",
        "crawl",
        "interact",
        "find",
        "links",
        "more",
        "collect",
        "done",
        "impossible",
        "x",
        "",
    ];
    let reference = prop_oneof![
        "[rlp][0-9]{1,2}".boxed(),
        "p[1-3]\\.[0-9]".boxed(),
        Just("http://a.test/".to_owned()).boxed(),
        "\\PC{0,10}".boxed(),
    ];
    let decision = (prop::sample::select(actions.to_vec()), reference, "\\PC{0,20}").prop_map(
        |(action, reference, text)| json!({ "why": text, "action": action, "ref": reference, "text": text }),
    );
    prop_oneof![8 => decision, 1 => any_json()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn run_ends_within_its_bounds(
        decisions in prop::collection::vec(any_decision(), 12),
        values in prop::collection::vec(any_json(), 12),
        markdown in "(\\PC|\n|#|\\[x\\]\\(http://b.test/\\)){0,200}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let web = FakeWeb::new([("http://a.test/", "A", markdown.as_str())]);
            let number = parking_lot::Mutex::new(0);
            let model = ScriptedModel::new(move |request| {
                let mut number = number.lock();
                *number += 1;
                let list = if request.kind == Kind::Step { &decisions } else { &values };
                Ok(list[*number % list.len()].clone())
            });
            let tea = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
            let schema = object(&json!({ "name": { "type": "string" }, "teas": { "type": "array", "items": tea } }));
            let urls = ["http://a.test/".to_owned()];
            let limits = TaskLimits::for_effort(AgentEffort::Low);
            let report =
                run_task(&web, &model, AgentTask { schema: Some(&schema), urls: &urls, limits, ..task("Tea?") }).await;
            assert!(report.steps <= 10);
        });
    }
}
