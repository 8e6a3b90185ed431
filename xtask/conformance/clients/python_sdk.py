"""Checks the official Python SDK, sync and async, against a running service: `python_sdk.py ADDRESS [KEY]`."""

import asyncio
import importlib.metadata
import signal
import sys
import uuid

from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.types import ParseOptions, PDFParser
from firecrawl.v2.utils.error_handler import BadRequestError, FirecrawlError, UnauthorizedError
from firecrawl.v2.watcher_async import AsyncWatcher

sys.dont_write_bytecode = True  # The scripts are in the source tree.
import python_agent
from sdk_calls import ADDRESS, HAS_MODEL, HAS_SESSIONS, KEY, OOLONG, PAGE, call, expect_error, expect_failure
from watched_page import WatchedPage

# Pages that are not in the index: the searches and maps of other checks must not find them.
SHOP = "http://tea.test/shop.html"
MENU = "http://tea.test/menu.html"
BROCHURE = "http://tea.test/brochure.pdf"
# The price of a session of less than a minute. Prompts make it more expensive.
SESSION_CREDITS = 7 if HAS_MODEL else 2


async def check_search(make):
    found = await call(make(KEY).search("green tea water"))
    first = found.web[0]
    assert (first.url, first.title) == (PAGE, "Green tea"), first
    assert "green tea" in first.description.lower(), first
    assert found.news is None and found.images is None, found


async def check_search_with_scraping(make):
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


async def check_search_with_filters(make):
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
    excluded = await call(make(KEY).search("tea", exclude_domains=["tea.test"]))
    assert excluded.web == [], excluded


async def check_map(make):
    found = await call(make(KEY).map("http://tea.test/", limit=10))
    titles = {link.url: link.title for link in found.links}
    assert titles == {"http://tea.test/": "Tea house", PAGE: "Green tea", OOLONG: "Oolong"}, found
    best = await call(make(KEY).map("tea.test", search="oolong", limit=1, sitemap="only", include_subdomains=False))
    assert [link.url for link in best.links] == [OOLONG], best
    try:
        await call(make(KEY).map("http://169.254.169.254/"))
    except Exception as error:  # noqa: BLE001 - the SDK has no exception class for it
        assert "may not be fetched" in str(error), error
    else:
        raise AssertionError("a private address was mapped")


async def check_value_over_limit(make):
    try:
        found = await call(make(KEY).search("x" * 501))
    except BadRequestError as error:
        assert "query" in str(error), error
    else:
        raise AssertionError(f"accepted: {found}")


async def check_scrape(make):
    page = await call(make(KEY).scrape(PAGE))
    assert page.markdown.startswith("# Green tea") and page.html is None, page
    assert (page.metadata.source_url, page.metadata.status_code) == (PAGE, 200), page.metadata
    formats = ["markdown", "html", "links", "rawHtml"]
    page = await call(make(KEY).scrape(PAGE, formats=formats, only_main_content=True, timeout=30000))
    assert page.links == ["http://tea.test/oolong.html"] and "<h1>Green tea</h1>" in page.html, page
    assert page.metadata.scrape_id and page.metadata.credits_used == 1, page.metadata
    cached = await call(make(KEY).scrape(PAGE, lockdown=True))
    assert cached.metadata.cache_state == "hit", cached.metadata


async def check_scrape_unavailable(make):
    try:
        page = await call(make(KEY).scrape("http://tea.test/never", lockdown=True))
    except FirecrawlError as error:
        assert error.status_code == 404 and "not in the cache" in str(error), error
    else:
        raise AssertionError(f"accepted: {page}")
    gone = await call(make(KEY).scrape("http://tea.test/missing"))
    assert gone.metadata.status_code == 404, gone.metadata


async def check_product_and_menu(make):
    page = await call(make(KEY).scrape(SHOP, store_in_cache=False, formats=["product", "menu"]))
    product = page.product
    assert (product.title, product.brand, product.url) == ("Sencha, 100 g", "Tea house", SHOP), product
    variant = product.variants[0]
    assert (variant.sku, variant.price.amount, variant.price.currency) == ("SEN-100", 12.5, "EUR"), variant
    assert variant.availability.in_stock is True, variant
    assert page.menu is None and "No menu found" in page.warning, page
    page = await call(make(KEY).scrape(MENU, store_in_cache=False, formats=["markdown", "menu"]))
    menu = page.menu
    assert menu.is_menu and menu.confidence >= 0.9 and menu.merchant.name == "Tea house", menu
    items = [(section.name, item.name, item.price.amount) for section in menu.sections for item in section.items]
    assert items == [("Cakes", "Matcha cake", 4.2), ("Cakes", "Scone", 3.0)], menu
    assert menu.sections[0].items[0].dietary == ["vegetarian"], menu


async def check_attributes(make):
    selectors = [{"selector": "a.file", "attribute": "href"}]
    page = await call(make(KEY).scrape(SHOP, store_in_cache=False, formats=["markdown", {"type": "attributes", "selectors": selectors}]))
    # The SDK sends a format object as it is, but its document has no field for the values.
    assert page.markdown.startswith("# Sencha") and not page.warning, page
    page = await call(make(KEY).scrape(SHOP, store_in_cache=False, formats=["markdown", "attributes"]))
    assert "attributes is not available" in page.warning, page


async def check_pdf_pages(make):
    parser = PDFParser(pages=True, page_markers=True, blocks=True)
    page = await call(make(KEY).scrape(BROCHURE, store_in_cache=False, formats=["markdown"], parsers=[parser]))
    assert [result.page_number for result in page.pages] == [1, 2], page.pages
    assert page.pages[1].markdown == "The second page is about oolong.\n", page.pages
    assert "\n\n---\n\n<!-- page 2 -->\n\nThe second page" in page.markdown, page.markdown
    assert (page.metadata.num_pages, page.metadata.credits_used, page.warning) == (2, 2, None), page.metadata
    first, _ = page.blocks
    title = first.items[0]
    assert (first.page_number, first.width, first.status) == (1, 600.0, "ok"), first
    assert (title.id, title.type, title.content, len(title.bbox)) == ("p1.b0", "title", "# Teas of the year", 4), title
    assert (title.reading_order, title.source, title.confidence.ocr) == (0, "native_text", None), title
    # The older name, a page limit, and a parser that this service does not have.
    parsers = [{"type": "pdf", "page_markdown": True, "max_pages": 1}, "image"]
    page = await call(make(KEY).scrape(BROCHURE, store_in_cache=False, formats=["markdown"], parsers=parsers))
    assert len(page.pages) == 1 and page.markdown == page.pages[0].markdown, page
    assert "image is not available" in page.warning, page.warning


async def check_branding(make):
    page = await call(make(KEY).scrape(SHOP, store_in_cache=False, formats=["branding"]))
    branding = page.branding
    assert branding.color_scheme == "light", branding
    assert branding.colors["background"].upper() == "#FFFFFF", branding.colors
    assert branding.components["buttonPrimary"]["background"].upper() == "#006633", branding.components
    assert {font["family"] for font in branding.fonts} >= {"Arial", "Georgia"}, branding.fonts
    if HAS_MODEL:
        assert branding.personality and not page.warning, page
    else:
        assert "no language model is configured" in page.warning, page.warning


async def check_activity(make):
    client = make(KEY)
    await call(client.scrape(PAGE))
    # The SDK has no method for it, but its HTTP client can request any path.
    http = client._v2_client.http_client if hasattr(client._v2_client, "http_client") else client._v2_client.async_http_client
    response = await call(http.get("/v2/team/activity?endpoint=scrape&limit=1"))
    listed = response.json()
    assert listed["success"] and [item["target"] for item in listed["data"]] == [PAGE], listed
    assert listed["data"][0]["endpoint"] == "scrape" and listed["data"][0]["api_version"] == "v2", listed


async def check_parse(make):
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


async def check_usage(make):
    client = make(KEY)
    await call(client.search("green tea water"))
    credits = await call(client.get_credit_usage())
    assert credits.remaining_credits > 0, credits
    assert (credits.plan_credits, credits.billing_period_start, credits.billing_period_end) == (None, None, None)
    tokens = await call(client.get_token_usage())
    assert tokens.remaining_tokens == credits.remaining_credits, tokens
    # Only the inner client has the methods for months.
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


async def check_batch(make):
    client = make(KEY)
    urls = [PAGE, "http://tea.test/oolong.html"]
    job = await call(client.batch_scrape(urls, formats=["markdown"], poll_interval=1, wait_timeout=60))
    assert (job.status, job.completed, job.total) == ("completed", 2, 2), job
    pages = sorted((page.metadata.source_url, page.markdown[:7]) for page in job.data)
    assert pages == [(PAGE, "# Green"), (urls[1], "# Oolon")], pages
    started = await call(client.start_batch_scrape([PAGE, "http://[tea/"], formats=["links"]))
    assert started.invalid_urls == ["http://[tea/"] and started.url.startswith(ADDRESS), started
    errors = await call(client.get_batch_scrape_errors(started.id))
    # The async client returns plain JSON, the sync client an object.
    errors = errors["errors"] if isinstance(errors, dict) else errors.errors
    assert errors == [], errors
    try:
        assert await call(client.cancel_batch_scrape(started.id)) is True
    except FirecrawlError as error:
        # The job may already have completed. For batches, unlike crawls, the SDK reports this as an exception.
        assert "already completed" in str(error), error


async def check_crawl(make):
    client = make(KEY)
    job = await call(client.crawl(url="http://tea.test/", limit=10, sitemap="skip", poll_interval=1, timeout=60))
    assert job.status == "completed" and job.completed == job.total == len(job.data), job
    pages = sorted(page.metadata.source_url for page in job.data)
    assert len(set(pages)) == len(pages) and PAGE in pages, pages
    assert all(page.markdown for page in job.data), pages
    started = await call(client.start_crawl(url="http://tea.test/", limit=2))
    assert started.url.startswith(ADDRESS), started
    assert await call(client.cancel_crawl(started.id)) in (True, False)
    # The async client does not have this method.
    if hasattr(client, "get_active_crawls"):
        active = await call(client.get_active_crawls())
        assert all(crawl.id != started.id for crawl in active.crawls), active


async def watch(make, job, kind):
    """Returns the snapshots of the sync or async watcher, and the documents of events (sync only)."""
    # The watcher polls the status over HTTP only if there is no event for `poll_interval` seconds.
    watcher = make(KEY).watcher(job, kind=kind, poll_interval=30, timeout=60)
    if isinstance(watcher, AsyncWatcher):
        return [snapshot async for snapshot in watcher], None
    snapshots, documents = [], []
    watcher.add_listener(snapshots.append)
    watcher.add_event_listener("document", lambda event: documents.append(event["data"]))
    watcher.start()
    await asyncio.to_thread(watcher._thread.join, 60)
    return snapshots, documents


async def check_watch(make):
    client = make(KEY)
    urls = [PAGE, OOLONG]
    batch = await call(client.start_batch_scrape(urls, formats=["markdown"], max_age=0))
    crawl = await call(client.start_crawl(url="http://tea.test/", limit=10, sitemap="skip"))
    for kind, job in (("batch", batch.id), ("crawl", crawl.id)):
        for time in ("while the job runs", "after it has completed"):
            snapshots, documents = await watch(make, job, kind)
            last = snapshots[-1]
            assert last.status == "completed" and last.completed == last.total, (kind, time, snapshots)
            pages = sorted(page.metadata.source_url for page in last.data)
            assert len(pages) == last.completed and PAGE in pages, (kind, time, pages)
            if documents is not None:
                document_urls = sorted(document["metadata"]["sourceURL"] for document in documents)
                assert document_urls == pages, (kind, time, document_urls)


async def run_to_the_end(client, monitor):
    """Starts a check, and returns it with its pages once it has ended."""
    started = await call(client.run_monitor(monitor))
    assert started.trigger == "manual", started
    while True:
        # With one page per request the client has to follow `next`.
        ended = await call(client.get_monitor_check(monitor, started.id, limit=1))
        if ended.status not in ("queued", "running"):
            return ended
        await asyncio.sleep(0.1)


async def check_monitor(make):
    client = make(KEY)
    page = WatchedPage()
    targets = [{"type": "scrape", "urls": [page.url, PAGE]}]
    schedule = {"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"}
    created = await call(client.create_monitor("Lamp", schedule, targets, retention_days=7))
    assert (created.schedule.cron, created.schedule.timezone) == ("0 9 * * 1-5", "Europe/Berlin"), created
    assert (created.status, created.retention_days, created.last_run_at) == ("active", 7, None), created
    assert created.next_run_at and created.estimated_credits_per_month > 0, created
    assert (await call(client.list_monitors(limit=1)))[0].id == created.id
    assert await call(client.list_monitors(limit=1, offset=1000)) == []
    assert (await call(client.get_monitor(created.id))).name == "Lamp"
    changes = {"name": "Lamps", "schedule": {"text": "every 30 minutes"}, "goal": "prices", "judge_enabled": False}
    updated = await call(client.update_monitor(created.id, **changes))
    assert (updated.name, updated.goal, updated.schedule.cron) == ("Lamps", "prices", "*/30 * * * *"), updated
    checks = []
    for price in (12, 14):
        page.write(price)
        checks.append(await run_to_the_end(client, created.id))
    first, second = checks
    assert (first.status, first.summary.new, len(first.pages)) == ("completed", 2, 2), first
    assert (second.summary.changed, second.summary.same, len(second.pages)) == (1, 1, 2), second
    changed = await call(client.get_monitor_check(created.id, second.id, status="changed"))
    assert [(result.url, result.status) for result in changed.pages] == [(page.url, "changed")], changed
    diff = changed.pages[0].diff
    lines = [line for line in diff.text.splitlines() if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert lines == ["-It costs 12 euros.", "+It costs 14 euros."], diff
    assert len(diff.json["files"]) == 1, diff
    listed = await call(client.list_monitor_checks(created.id, limit=1, offset=1))
    assert [check.id for check in listed] == [first.id], listed
    await call(client.update_monitor(created.id, status="paused"))
    for action, reason in (
        (lambda: client.run_monitor(created.id), "paused"),
        (lambda: client.create_monitor("Lamp", {"text": "sometimes"}, targets), "schedule"),
    ):
        await expect_error(action, reason)
    assert await call(client.delete_monitor(created.id)) is True
    await expect_error(lambda: client.get_monitor(created.id), "Monitor not found")


async def check_browser_sessions(make):
    client = make(KEY)
    profile = {"name": f"shop-{uuid.uuid4()}"}
    session = await call(client.browser(ttl=120, activity_ttl=60, block_ads=True, profile=profile, location={"country": "DE"}))
    assert session.success and session.cdp_url.startswith("ws://") and session.expires_at.endswith("Z"), session
    assert session.interactive_live_view_url.startswith(ADDRESS), session

    async def execute(code, **options):
        return await call(client.browser_execute(session.id, code, **options))

    # The SDK runs bash unless the language is given.
    opened = await execute(f"agent-browser open {PAGE} && agent-browser get text h1")
    assert (opened.success, opened.exit_code, opened.stdout.splitlines()[-1]) == (True, 0, "Green tea"), opened
    set_visits = "await page.evaluate(() => localStorage.setItem('visits', '1')); console.log('set'); ({ title: await page.title() })"
    node = await execute(set_visits, language="node", timeout=20)
    assert (node.stdout, node.result, node.exit_code, node.killed) == ("set\n", '{"title":"Green tea"}', 0, False), node
    failed = await execute("console.log('before'); throw new Error('no tea')", language="node")
    assert (failed.success, failed.exit_code, failed.stdout) == (True, 1, "before\n") and "no tea" in failed.error, failed
    await expect_failure(lambda: client.browser_execute(session.id, "1", language="python"), "python is not available")
    await expect_failure(lambda: client.browser(profile=profile), "profile")

    async def find(**options):
        listed = (await call(client.list_browsers(**options))).sessions
        return [(found.status, found.cdp_url) for found in listed if found.id == session.id]

    assert await find(status="active") == await find() == [("active", session.cdp_url)]
    ended = await call(client.delete_browser(session.id))
    assert ended.success and ended.session_duration_ms > 0 and ended.credits_billed == 2, ended
    assert await find(status="destroyed") == await find() == [("destroyed", "")]
    assert await find(status="active") == []
    await expect_failure(lambda: client.browser_execute(session.id, "get title"), "destroyed")
    assert (await call(client.delete_browser(session.id))).credits_billed is None
    session = await call(client.browser(profile=profile | {"save_changes": False}))
    visits = await execute(f"await page.goto('{PAGE}'); await page.evaluate(() => localStorage.getItem('visits'))", language="node")
    assert visits.result == "1", visits
    await call(client.delete_browser(session.id))


async def check_interact(make):
    client = make(KEY)
    scrape = (await call(client.scrape(PAGE))).metadata.scrape_id
    click = "await page.getByText('oolong').click();"
    if HAS_MODEL:
        clicked = await call(client.interact(scrape, prompt="Click the link oolong"))
        assert clicked.success and clicked.output == "Oolong", clicked
        click = ""
    else:
        await expect_error(lambda: client.interact(scrape, prompt="Click the link oolong"), "no language model is configured")
    clicked = await call(client.interact(scrape, f"{click} await page.title()"))
    assert (clicked.success, clicked.result, clicked.exit_code, clicked.output) == (True, "Oolong", 0, None), clicked
    assert clicked.live_view_url.startswith(ADDRESS) and clicked.cdp_url.startswith("ws://"), clicked
    bash = await call(client.interact(scrape, "agent-browser get url", language="bash", timeout=20))
    assert bash.stdout == OOLONG + "\n", bash
    # The SDK raises an error for code that fails, with nothing but its text.
    await expect_error(lambda: client.interact(scrape, "throw new Error('no tea')"), "no tea")
    stopped = await call(client.stop_interaction(scrape))
    assert stopped.success and stopped.session_duration_ms > 0, stopped
    assert stopped.credits_billed == SESSION_CREDITS, stopped
    await expect_error(lambda: client.interact(scrape, "1"), "destroyed")
    await expect_error(lambda: client.interact(str(uuid.uuid4()), "1"), "Job not found.")


async def check_unauthorized(make):
    for key, reason in ((None, "Token missing"), ("fc-wrong", "Invalid token")):
        try:
            await call(make(key).search("tea"))
        except UnauthorizedError as error:
            assert reason in str(error), error
        else:
            raise AssertionError(f"key {key} was accepted")


async def check_any_key_accepted(make):
    found = await call(make("fc-whatever").search("green tea water"))
    assert found.web[0].url == PAGE, found


async def main():
    print("client firecrawl-py", importlib.metadata.version("firecrawl-py"))
    key_check = (
        ("a wrong or missing key is unauthorized", check_unauthorized)
        if KEY
        else ("no key is required", check_any_key_accepted)
    )
    checks = [
        ("search", check_search),
        ("search with scraping", check_search_with_scraping),
        ("search with filters", check_search_with_filters),
        ("map", check_map),
        ("scrape", check_scrape),
        ("scrape of unavailable pages", check_scrape_unavailable),
        ("product and menu", check_product_and_menu),
        ("attributes", check_attributes),
        ("pages of a PDF", check_pdf_pages),
        ("activity", check_activity),
        ("parse", check_parse),
        ("usage", check_usage),
        ("batch", check_batch),
        ("crawl", check_crawl),
        ("watch", check_watch),
        ("monitor", check_monitor),
        *(python_agent.WITH_MODEL if HAS_MODEL else python_agent.WITHOUT_MODEL),
        ("a value over its limit is a bad request", check_value_over_limit),
        key_check,
    ]
    if HAS_SESSIONS:
        checks += [("branding", check_branding), ("browser sessions", check_browser_sessions), ("interact", check_interact)]
    for kind, client in (("sync", Firecrawl), ("async", AsyncFirecrawl)):
        for name, check in checks:
            try:
                await check(lambda key: client(api_key=key, api_url=ADDRESS))
                print(f"ok {kind}: {name}")
            except Exception as error:  # noqa: BLE001 - any exception is a failed check
                print(f"failed {kind}: {name}: {type(error).__name__}: {error}".replace("\n", " "))


# A client that hangs counts as failed.
signal.alarm(180)
asyncio.run(main())
