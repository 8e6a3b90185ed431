"""Arguments of the checks of the Python SDK, and calls of its sync and async clients."""

import inspect
import os
import sys

from firecrawl.v2.utils.error_handler import FirecrawlError

ADDRESS = sys.argv[1]
KEY = sys.argv[2] if len(sys.argv) > 2 else None
PAGE = "http://tea.test/green.html"
OOLONG = "http://tea.test/oolong.html"
# Whether the service has a Chromium, and so browser sessions.
HAS_SESSIONS = os.environ.get("WEBSVC_SESSIONS") == "1"
# Whether the service has a language model, the one of `model.py`.
HAS_MODEL = os.environ.get("WEBSVC_MODEL") == "1"


async def call(value):
    """Returns the result of a method of the sync or async client."""
    return await value if inspect.isawaitable(value) else value


async def expect_failure(action, reason):
    """Checks that a call fails with a reason. For browser sessions and extractions, the async client
    returns it instead of an error."""
    try:
        result = await call(action())
    except FirecrawlError as error:
        assert reason in str(error), error
    else:
        assert result.success is False and reason in result.error, result


async def expect_error(action, reason):
    """Checks that a call raises an error of the SDK with a reason."""
    try:
        result = await call(action())
    except FirecrawlError as error:
        assert reason in str(error), error
    else:
        raise AssertionError(f"accepted: {result}")
