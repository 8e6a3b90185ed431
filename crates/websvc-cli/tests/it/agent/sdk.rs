//! Runs the official Python SDK against agent runs.

use super::{AgentTest, collecting};
use crate::sdk::check;

/// A script with a run, its list, trace, snapshots and thread, a cancelled run, and errors.
const RUNNING: &str = r##"
import sys, time
from firecrawl import Firecrawl
from firecrawl.v2.utils.error_handler import FirecrawlError
from pydantic import BaseModel

class Price(BaseModel):
    name: str
    euros: int

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
tea = ["http://shop.test/tea"]
done = app.agent(urls=tea, prompt="What does sencha cost?", schema=Price, poll_interval=1, model="spark-2",
                 effort="low", max_credits=50)
print(done.status, done.data, done.credits_used, done.stop_reason, done.model, done.mode)
run = app.list_agents().agents[0]
print(run.status, run.target_hint, run.origin, run.options.model)
trace = app.get_agent_trace(run.id)
print(trace.events[0].type, trace.events[-1].type, trace.events[-1].outcome, trace.credits_used)
snapshots = [event.artifact.snapshot_id for event in trace.events if event.type == "artifact.updated"]
print("passage" in app.get_agent_snapshot(run.id, snapshots[-1]).snapshot)
follow = app.start_agent(None, prompt="And now?", thread_id=done.thread_id)
print(follow.success, follow.thread_turn)
while app.get_agent_status(follow.id).status == "processing":
    time.sleep(0.1)
thread = app.get_agent_thread(done.thread_id, include_data=True).thread
print(thread.status, [(turn.turn, turn.status, turn.data) for turn in thread.runs])
waiting = app.start_agent(tea, prompt="wait")
print(app.cancel_agent(waiting.id))
while (ended := app.get_agent_status(waiting.id)).status == "processing":
    time.sleep(0.1)
print(ended.status, ended.stop_reason)
for wrong in (lambda: app.cancel_agent(waiting.id), lambda: app.get_agent_status(done.thread_id),
              lambda: app.start_agent(tea, prompt="x", schema={"type": "objekt"})):
    try:
        print(wrong())
    except FirecrawlError as error:
        print(error.status_code, "Agent job" in str(error) or "Invalid JSON schema" in str(error))
"##;

/// Answers as [`collecting`], except for a task that waits.
fn waiting(body: &serde_json::Value) -> websvc_testkit::Page {
    let page = collecting(body);
    let is_waiting = websvc_testkit::FakeModel::prompt_text(body).contains("## Task\nwait");
    if is_waiting { page.delay(std::time::Duration::from_secs(600)) } else { page }
}

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_runs_the_agent() {
    let test = AgentTest::with(waiting, &[]).await;
    let expected = "completed {'name': 'sencha', 'euros': 12} 3 succeeded spark-2 extract\n\
                    completed http://shop.test/tea python-sdk@4.55.0 spark-2\n\
                    run.started run.finished succeeded 3\n\
                    True\n\
                    True 2\n\
                    idle [(1, 'succeeded', {'name': 'sencha', 'euros': 12}), (2, 'succeeded', {'name': 'sencha', 'euros': 12})]\n\
                    True\n\
                    failed cancelled\n\
                    409 True\n\
                    404 True\n\
                    400 True\n";
    check(RUNNING, &test.service, expected);
}

/// A script that starts a run without a language model.
const REFUSED: &str = r##"
import sys
from firecrawl import Firecrawl
from firecrawl.v2.utils.error_handler import FirecrawlError

try:
    print(Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1]).agent(prompt="What does sencha cost?"))
except FirecrawlError as error:
    print(error.status_code, "[llm]" in str(error))
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_shows_that_a_model_is_missing() {
    let world = crate::harness::tea_world().await;
    let service = crate::harness::Service::for_world(&world);
    check(REFUSED, &service, "501 True\n");
}
