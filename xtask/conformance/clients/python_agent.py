"""Checks of agent runs and extractions with the Python SDK, sync and async, with and without a language model."""

import asyncio
import json
import uuid

from firecrawl import AsyncFirecrawl
from firecrawl.v1.client import AsyncV1FirecrawlApp, V1FirecrawlApp

from sdk_calls import ADDRESS, KEY, OOLONG, PAGE, call, expect_error, expect_failure

GRAMS = {
    "type": "object",
    "properties": {"leaf": {"type": "string"}, "grams": {"type": "integer"}},
    "required": ["leaf", "grams"],
}
SENCHA = {"leaf": "Sencha", "grams": 4}
TEA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TEAS = {"type": "object", "properties": {"teas": {"type": "array", "items": TEA}}, "required": ["teas"]}
BOTH = {"teas": [{"name": "Green tea"}, {"name": "Oolong"}]}


def is_async(client):
    """Returns true for the async client of the SDK, whose methods for the list of runs and for threads raise an
    AttributeError after each response, and which does not read the credits of extractions (4.55.0)."""
    return isinstance(client, AsyncFirecrawl)


async def wait_for_end(client, run):
    while (status := await call(client.get_agent_status(run))).status == "processing":
        await asyncio.sleep(0.1)
    return status


async def check_agent(make):
    client = make(KEY)
    options = {"schema": GRAMS, "model": "spark-2", "effort": "low", "max_credits": 50, "strict_constrain_to_urls": True}
    started = await call(client.start_agent([PAGE], prompt="How much sencha?", **options))
    assert started.success and started.thread_turn == 1, started
    done = await wait_for_end(client, started.id)
    assert (done.status, done.data, done.error) == ("completed", SENCHA, None), done
    # Two steps and a page.
    assert (done.credits_used, done.stop_reason, done.model, done.effort) == (2, "succeeded", "spark-2", "low"), done
    if not is_async(client):
        run = (await call(client.list_agents())).agents[0]
        assert (run.id, run.status, run.target_hint) == (started.id, "completed", PAGE), run
        assert run.options.prompt == "How much sencha?", run
    trace = await call(client.get_agent_trace(started.id))
    first, last = trace.events[0], trace.events[-1]
    assert (first.type, last.type, last.outcome, trace.credits_used) == ("run.started", "run.finished", "succeeded", 2), trace
    snapshots = [event.artifact.snapshot_id for event in trace.events if event.type == "artifact.updated"]
    sources = json.loads((await call(client.get_agent_snapshot(started.id, snapshots[-1]))).snapshot)
    grams = next(source for source in sources if source["pointer"] == "/grams")
    assert grams["url"] == PAGE and "Sencha" in grams["passage"], sources
    second = await call(client.start_agent(None, prompt="And now?", thread_id=done.thread_id))
    assert second.thread_turn == 2, second
    assert (await wait_for_end(client, second.id)).data == SENCHA
    if not is_async(client):
        thread = (await call(client.get_agent_thread(done.thread_id, include_data=True))).thread
        assert [(turn.status, turn.data) for turn in thread.runs] == [("succeeded", SENCHA)] * 2, thread


async def check_agent_search(make):
    """A run without URLs searches the pages that it reads, and without a schema its data is a free object. The client
    waits for its end."""
    client = make(KEY)
    done = await call(client.agent(prompt="green tea water", poll_interval=1, timeout=120))
    assert done.status == "completed" and done.data["grams"] == 4, done
    events = (await call(client.get_agent_trace(done.id))).events
    calls = [(event.tool_name, event.parameters) for event in events if event.type == "tool_call.started"]
    assert [name for name, _ in calls] == ["search", "scrape"] and calls[1][1]["url"] == PAGE, calls


async def check_agent_cancellation(make):
    client = make(KEY)
    started = await call(client.start_agent([PAGE], prompt="wait"))
    assert (await call(client.get_agent_status(started.id))).status == "processing"
    assert await call(client.cancel_agent(started.id)) is True
    ended = await wait_for_end(client, started.id)
    assert (ended.status, ended.stop_reason, ended.credits_used) == ("failed", "cancelled", 0), ended
    await expect_error(lambda: client.cancel_agent(started.id), "already cancelled")
    await expect_error(lambda: client.start_agent([PAGE], prompt="x", schema={"type": "objekt"}), "Invalid JSON schema")


async def check_extract(make):
    client = make(KEY)
    options = {"prompt": "The teas", "schema": TEAS, "show_sources": True}
    done = await call(client.extract([PAGE, OOLONG], poll_interval=1, timeout=120, **options))
    assert (done.status, done.data) == ("completed", BOTH), done
    # Each page costs one credit, and its data four.
    assert done.credits_used == (None if is_async(client) else 10), done
    assert sorted(done.sources) == ["teas[0]", "teas[1]"], done
    started = await call(client.start_extract([OOLONG], prompt="The teas"))
    assert started.success and started.id, started
    while (status := await call(client.get_extract_status(started.id))).status == "processing":
        await asyncio.sleep(0.1)
    assert (status.status, status.data) == ("completed", {"teas": [{"name": "Oolong"}]}), status


async def check_extract_v1(make):
    app = AsyncV1FirecrawlApp if is_async(make(KEY)) else V1FirecrawlApp
    found = await call(app(api_key=KEY, api_url=ADDRESS).extract([PAGE, OOLONG], prompt="The teas", schema=TEAS))
    assert found.success and (found.status, found.data) == ("completed", BOTH), found


async def check_agent_without_model(make):
    """The service has no language model: its reason is shown, and everything else about runs works."""
    client = make(KEY)
    await expect_error(lambda: client.agent(prompt="What does tea cost?", urls=[PAGE]), "[llm]")
    await expect_error(lambda: client.start_agent(None, prompt=" "), "prompt")
    unknown = str(uuid.uuid4())
    for action in (
        lambda: client.get_agent_status(unknown),
        lambda: client.get_agent_trace(unknown),
        lambda: client.cancel_agent(unknown),
    ):
        await expect_error(action, "not found")
    if not is_async(client):
        assert (await call(client.list_agents())).agents == []
        await expect_error(lambda: client.get_agent_thread(unknown), "not found")


async def check_extract_without_model(make):
    """The service has no language model: its reason is shown, and unknown extractions are not found."""
    client = make(KEY)
    await expect_failure(lambda: client.extract([PAGE], prompt="The teas", show_sources=True), "[llm]")
    await expect_failure(lambda: client.start_extract(None), "urls or prompt is required")
    await expect_failure(lambda: client.get_extract_status(str(uuid.uuid4())), "Extract job not found")


WITH_MODEL = [
    ("agent", check_agent),
    ("agent that searches", check_agent_search),
    ("cancellation of an agent run", check_agent_cancellation),
    ("extract", check_extract),
    ("extract (v1)", check_extract_v1),
]
WITHOUT_MODEL = [
    ("agent without a model", check_agent_without_model),
    ("extract without a model", check_extract_without_model),
]
