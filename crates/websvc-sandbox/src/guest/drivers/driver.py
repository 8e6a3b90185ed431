# Runs a program with the asynchronous API of Playwright, connected to the browser of a session.
import ast
import asyncio
import inspect
import json
import linecache
import os
import sys
import time
import traceback
import types

FILE = "program.py"


async def current_page(context, target):
    pages = context.pages
    if len(pages) > 1:
        for page in pages:
            if await target_of(page) == target:
                return page
    return pages[0] if pages else await context.new_page()


async def target_of(page):
    session = await page.context.new_cdp_session(page)
    try:
        info = await session.send("Target.getTargetInfo")
        return info["targetInfo"]["targetId"]
    finally:
        await session.detach()


def print_error(error):
    # The frames of this file are of no use to the author of the program.
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != FILE:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


def exit_code_of(exit):
    if exit.code is None:
        return 0
    if isinstance(exit.code, int):
        return exit.code & 0xFF
    print(exit.code, file=sys.stderr)
    return 1


async def run_code(source, variables):
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    try:
        code = compile(source, FILE, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        value = eval(code, variables)
        if code.co_flags & inspect.CO_COROUTINE:
            await value
        return 0
    except SystemExit as exit:
        return exit_code_of(exit)
    except BaseException as error:
        print_error(error)
        return 1


async def run(task, started):
    from playwright.async_api import async_playwright

    playwright = await async_playwright().start()
    if task["isCheck"]:
        from playwright._repo_version import version

        print(f"Python {sys.version.split()[0]}, playwright {version}")
        await playwright.stop()
        return 0
    browser = await playwright.chromium.connect_over_cdp(task["endpoint"])
    context = browser.contexts[0]
    page = await current_page(context, task["targetId"])
    # An operation ends before the program is killed, so that its error says what it waited for.
    left_ms = task["timeoutMs"] - (time.monotonic() - started) * 1000
    context.set_default_timeout(min(30000, max(left_ms - 1000, left_ms * 0.8)))
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    variables = module.__dict__
    variables.update(page=page, context=context, browser=browser, playwright=playwright, asyncio=asyncio)
    exit_code = await run_code(task["code"], variables)
    last = variables.get("page")
    if last is not page:
        try:
            outcome = {"targetId": await target_of(last)}
        except Exception:
            return exit_code
        with open(task["outcome"], "w") as file:
            json.dump(outcome, file)
    return exit_code


def main():
    started = time.monotonic()
    sys.stdout.reconfigure(line_buffering=True)
    task = json.load(sys.stdin)
    sys.argv = [FILE]
    exit_code = 1
    try:
        exit_code = asyncio.run(run(task, started))
    except ModuleNotFoundError as error:
        print(f"{error}: install the package playwright for {sys.executable}", file=sys.stderr)
    except Exception as error:
        print(f"the program could not be started: {error}", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    # The driver of Playwright ends with the sandbox.
    os._exit(exit_code)


main()
