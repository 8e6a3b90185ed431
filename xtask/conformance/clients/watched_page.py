"""A page that changes, for the checks of monitors and of change tracking."""

import os
import time
import uuid


class WatchedPage:
    """A page of the site that changes, on a host of its own, so that maps and searches of the other do not find it."""

    def __init__(self):
        name = f"watched-{uuid.uuid4()}.html"
        self.url = f"http://lamp.test/{name}"
        self.path = os.path.join(os.environ["WEBSVC_SITE"], name)
        self.modified = time.time() - 1000

    def write(self, price):
        """Writes the page. The server compares times of whole seconds, so each version is ten seconds newer."""
        with open(self.path, "w") as file:
            file.write(f"<title>Lamp</title><main><h1>Lamp</h1><p>It costs {price} euros.</p></main>")
        self.modified += 10
        os.utime(self.path, (self.modified, self.modified))
