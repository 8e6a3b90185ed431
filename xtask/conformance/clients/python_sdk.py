"""The official Python SDK, sync and async, against a running service: `python_sdk.py ADDRESS [KEY]`."""

import asyncio
import importlib.metadata
import inspect
import signal
import sys

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.types import ParseOptions
from firecrawl.v2.utils.error_handler import BadRequestError, FirecrawlError, UnauthorizedError
from firecrawl.v2.watcher_async import AsyncWatcher

ADDRESS = sys.argv[1]
KEY = sys.argv[2] if len(sys.argv) > 2 else None
PAGE = "http://tea.test/green.html"
OOLONG = "http://tea.test/oolong.html"


async def call(value):
    """Returns what a method of the sync or of the async client returns."""
    return await value if inspect.isawaitable(value) else value


async def plain(make):
    found = await call(make(KEY).search("green tea water"))
    first = found.web[0]
    assert (first.url, first.title) == (PAGE, "Green tea"), first
    assert "green tea" in first.description.lower(), first
    assert found.news is None and found.images is None, found


async def scraped(make):
    options = {"formats": ["markdown", "html", {"type": "links"}], "only_main_content": True}
    found = await call(make(KEY).search("green tea water", scrape_options=options))
    first = found.web[0]
    assert "# Green tea" in first.markdown and "Sencha" in first.markdown, first.markdown
    assert "Home" not in first.markdown, first.markdown
    assert "<h1>Green tea</h1>" in first.html, first.html
    assert first.links == ["http://tea.test/oolong.html"], first.links
    metadata = first.metadata
    assert (metadata.source_url, metadata.url, metadata.title) == (PAGE, PAGE, "Green tea"), metadata
    assert metadata.status_code == 200 and metadata.error is None, metadata


async def filtered(make):
    found = await call(
        make(KEY).search(
            "tea",
            limit=1,
            sources=["web", "news"],
            include_domains=["tea.test"],
            location="Berlin,Germany",
            tbs="sbd:1,qdr:y",
            timeout=30000,
            ignore_invalid_urls=True,
        )
    )
    assert len(found.web) == 1 and found.web[0].url.startswith("http://tea.test/"), found
    elsewhere = await call(make(KEY).search("tea", exclude_domains=["tea.test"]))
    assert elsewhere.web == [], elsewhere


async def mapped(make):
    found = await call(make(KEY).map("http://tea.test/", limit=10))
    titles = {link.url: link.title for link in found.links}
    assert titles == {"http://tea.test/": "Tea house", PAGE: "Green tea", OOLONG: "Oolong"}, found
    best = await call(make(KEY).map("tea.test", search="oolong", limit=1, sitemap="only", include_subdomains=False))
    assert [link.url for link in best.links] == [OOLONG], best
    try:
        await call(make(KEY).map("http://169.254.169.254/"))
    except Exception as error:  # noqa: BLE001 - the clients have no class of their own for it
        assert "may not be fetched" in str(error), error
    else:
        raise AssertionError("an address of the network was mapped")


async def over_limit(make):
    try:
        found = await call(make(KEY).search("x" * 501))
    except BadRequestError as error:
        assert "query" in str(error), error
    else:
        raise AssertionError(f"accepted: {found}")


async def one_page(make):
    page = await call(make(KEY).scrape(PAGE))
    assert page.markdown.startswith("# Green tea") and page.html is None, page
    assert (page.metadata.source_url, page.metadata.status_code) == (PAGE, 200), page.metadata
    formats = ["markdown", "html", "links", "rawHtml"]
    page = await call(make(KEY).scrape(PAGE, formats=formats, only_main_content=True, timeout=30000))
    assert page.links == ["http://tea.test/oolong.html"] and "<h1>Green tea</h1>" in page.html, page
    assert page.metadata.scrape_id and page.metadata.credits_used == 1, page.metadata
    cached = await call(make(KEY).scrape(PAGE, lockdown=True))
    assert cached.metadata.cache_state == "hit", cached.metadata


async def no_page(make):
    try:
        page = await call(make(KEY).scrape("http://tea.test/never", lockdown=True))
    except FirecrawlError as error:
        assert error.status_code == 404 and "not in the cache" in str(error), error
    else:
        raise AssertionError(f"accepted: {page}")
    gone = await call(make(KEY).scrape("http://tea.test/missing"))
    assert gone.metadata.status_code == 404, gone.metadata


async def file(make):
    html = b"<main><h1>Tea</h1><p>Of leaves.</p></main>"
    page = await call(make(KEY).parse(html, filename="tea.html"))
    assert page.markdown == "# Tea\n\nOf leaves.\n", page.markdown
    assert page.metadata.credits_used == 1, page.metadata
    options = ParseOptions(formats=["markdown", "html"], only_main_content=False)
    page = await call(make(KEY).parse(b"tea,grams\noolong,40\n", filename="stock.csv", options=options))
    assert "oolong" in page.markdown and "<table" in page.html, page
    try:
        page = await call(make(KEY).parse(b"\x89PNG\r\n\x1a\n\0\0", filename="tea.png"))
    except BadRequestError as error:
        assert "Unsupported file type" in str(error), error
    else:
        raise AssertionError(f"accepted: {page}")


async def usage(make):
    client = make(KEY)
    await call(client.search("green tea water"))
    credits = await call(client.get_credit_usage())
    assert credits.remaining_credits > 0, credits
    assert (credits.plan_credits, credits.billing_period_start, credits.billing_period_end) == (None, None, None)
    tokens = await call(client.get_token_usage())
    assert tokens.remaining_tokens == credits.remaining_credits, tokens
    # The months are in its inner client alone.
    inner = client._v2_client
    months = (await call(inner.get_credit_usage_historical())).periods
    assert len(months) == 1 and months[0].creditsUsed >= 2 and months[0].endDate is None, months
    keys = (await call(inner.get_token_usage_historical(by_api_key=True))).periods
    assert sum(period.tokensUsed for period in keys) == months[0].creditsUsed, keys
    assert any(period.apiKey for period in keys) == bool(KEY), keys
    queue = await call(client.get_queue_status())
    assert queue.jobs_in_queue == 0 and queue.max_concurrency > 0 and queue.most_recent_success, queue
    check = await call(client.get_concurrency())
    assert (check.concurrency, check.max_concurrency) == (0, queue.max_concurrency), check


async def batch(make):
    client = make(KEY)
    urls = [PAGE, "http://tea.test/oolong.html"]
    job = await call(client.batch_scrape(urls, formats=["markdown"], poll_interval=1, wait_timeout=60))
    assert (job.status, job.completed, job.total) == ("completed", 2, 2), job
    pages = sorted((page.metadata.source_url, page.markdown[:7]) for page in job.data)
    assert pages == [(PAGE, "# Green"), (urls[1], "# Oolon")], pages
    started = await call(client.start_batch_scrape([PAGE, "http://[tea/"], formats=["links"]))
    assert started.invalid_urls == ["http://[tea/"] and started.url.startswith(ADDRESS), started
    errors = await call(client.get_batch_scrape_errors(started.id))
    # The asynchronous client answers with the bare JSON, the other with a class.
    errors = errors["errors"] if isinstance(errors, dict) else errors.errors
    assert errors == [], errors
    try:
        assert await call(client.cancel_batch_scrape(started.id)) is True
    except FirecrawlError as error:
        # It ended by itself: then there is nothing to cancel, and unlike for crawls this client has no word for it.
        assert "already completed" in str(error), error


async def crawl(make):
    client = make(KEY)
    job = await call(client.crawl(url="http://tea.test/", limit=10, sitemap="skip", poll_interval=1, timeout=60))
    assert job.status == "completed" and job.completed == job.total == len(job.data), job
    pages = sorted(page.metadata.source_url for page in job.data)
    assert len(set(pages)) == len(pages) and PAGE in pages, pages
    assert all(page.markdown for page in job.data), pages
    started = await call(client.start_crawl(url="http://tea.test/", limit=2))
    assert started.url.startswith(ADDRESS), started
    assert await call(client.cancel_crawl(started.id)) in (True, False)
    # The asynchronous client has no word for it.
    if hasattr(client, "get_active_crawls"):
        active = await call(client.get_active_crawls())
        assert all(crawl.id != started.id for crawl in active.crawls), active


async def watch(make, job, kind):
    """Returns the snapshots that the watcher of the sync or of the async client tells, and the documents of events."""
    # Only when nothing comes for so long is the state asked for over HTTP.
    watcher = make(KEY).watcher(job, kind=kind, poll_interval=30, timeout=60)
    if isinstance(watcher, AsyncWatcher):
        return [snapshot async for snapshot in watcher], None
    snapshots, documents = [], []
    watcher.add_listener(snapshots.append)
    watcher.add_event_listener("document", lambda event: documents.append(event["data"]))
    watcher.start()
    await asyncio.to_thread(watcher._thread.join, 60)
    return snapshots, documents


async def watched(make):
    client = make(KEY)
    urls = [PAGE, OOLONG]
    batch = await call(client.start_batch_scrape(urls, formats=["markdown"], max_age=0))
    crawl = await call(client.start_crawl(url="http://tea.test/", limit=10, sitemap="skip"))
    for kind, job in (("batch", batch.id), ("crawl", crawl.id)):
        for time in ("while it runs", "when it has ended"):
            snapshots, documents = await watch(make, job, kind)
            last = snapshots[-1]
            assert last.status == "completed" and last.completed == last.total, (kind, time, snapshots)
            pages = sorted(page.metadata.source_url for page in last.data)
            assert len(pages) == last.completed and PAGE in pages, (kind, time, pages)
            if documents is not None:
                told = sorted(document["metadata"]["sourceURL"] for document in documents)
                assert told == pages, (kind, time, told)


async def refused(make):
    for key, reason in ((None, "Token missing"), ("fc-wrong", "Invalid token")):
        try:
            await call(make(key).search("tea"))
        except UnauthorizedError as error:
            assert reason in str(error), error
        else:
            raise AssertionError(f"key {key} was accepted")


async def not_asked(make):
    found = await call(make("fc-whatever").search("green tea water"))
    assert found.web[0].url == PAGE, found


async def main():
    print("client firecrawl-py", importlib.metadata.version("firecrawl-py"))
    key_check = ("a wrong or missing key is unauthorized", refused) if KEY else ("no key is asked for", not_asked)
    checks = [
        ("search", plain),
        ("search with scraping", scraped),
        ("search with filters", filtered),
        ("map", mapped),
        ("scrape", one_page),
        ("scrape of what cannot be had", no_page),
        ("parse", file),
        ("usage", usage),
        ("batch", batch),
        ("crawl", crawl),
        ("watching", watched),
        ("a query over the limit is a bad request", over_limit),
        key_check,
    ]
    for kind, client in (("sync", Firecrawl), ("async", AsyncFirecrawl)):
        for name, check in checks:
            try:
                await check(lambda key: client(api_key=key, api_url=ADDRESS))
                print(f"ok {kind}: {name}")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
                print(f"failed {kind}: {name}: {type(error).__name__}: {error}".replace("\n", " "))


# A client that waits for ever has failed.
signal.alarm(120)
asyncio.run(main())
