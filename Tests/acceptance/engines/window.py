"""What a browser shows: the page, its document, its elements and when it was painted."""

import time

from engines.wire import CommandFailed
from service import Failure, until

# The pause of a viewer who looks first: a page ignores taps in its first second.
DELIBERATE = 1.2
# Needs no script of the page: which page it is, and which document. The heading is the visible one.
LOOK = """
const shown = [...document.querySelectorAll("h1")].find((one) => one.getClientRects().length > 0);
return {document: performance.timeOrigin, whole: document.readyState === "complete", address: location.href,
        heading: shown ? shown.innerText.trim() : "", text: document.body ? document.body.innerText : "",
        age: performance.now()};
"""
RECTANGLES = """
const shown = (one) => one.getClientRects().length > 0 && (!one.checkVisibility || one.checkVisibility());
return [...document.querySelectorAll(arguments[0])].filter(shown).map((one) => {
  let box = one.getBoundingClientRect();
  if (box.top < 0 || box.bottom > innerHeight) {
    one.scrollIntoView({block: "center"});
    box = one.getBoundingClientRect();
  }
  return [box.left, box.top, box.width, box.height];
});
"""
PAINTED = """
const [paint] = performance.getEntriesByName("first-contentful-paint");
return paint ? (performance.now() - paint.startTime) / 1000 : null;
"""
# What a screen reader does to an element that is exposed to it: focus and a click without pointer events.
ACTIVATE = """
if (performance.now() > arguments[1]) return null;
const isVisible = (one) => arguments[2] || getComputedStyle(one).visibility === "visible";
const shown = (one) => one.getClientRects().length > 0 && isVisible(one);
const found = [...document.querySelectorAll(arguments[0])].filter(shown);
for (const one of found) {
  one.focus();
  one.click();
}
return found.length;
"""


class Window:
    """The window of a browser. A subclass gives `run`, which executes a script also when scripts of pages are off."""

    def look(self):
        """The current page; None between two pages."""
        try:
            return self.run(LOOK)
        except CommandFailed:
            return None

    def at(self, *headings, seconds=15, other_than=None):
        """Waits for a complete page with one of these headings, and returns it."""
        last = None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            last = self.look() or last
            if last and last["whole"] and last["heading"] in headings and last["document"] != other_than:
                return last
            time.sleep(0.03)
        found = last and f"{last['heading']!r} on {last['address']}"
        raise Failure(f"no page {' or '.join(map(repr, headings))}: {found}")

    def still(self, seconds=0.6):
        """The page, after no other has replaced it for this time; it may be an error page of the browser."""
        page, since, end = self.look(), time.monotonic(), time.monotonic() + 20
        while time.monotonic() < min(since + seconds, end):
            time.sleep(0.05)
            now = self.look()
            if not now or not now["whole"] or not page or now["document"] != page["document"]:
                page, since = now, time.monotonic()
        return page

    def arrive(self, address):
        """Waits for the complete page at this address."""
        def found():
            page = self.look()
            return page if page and page["whole"] and page["address"] == address else None
        return until(f"{self.name} is at {address}", found)

    def leaves(self, page):
        """Waits for another document."""
        def is_gone():
            now = self.look()
            return now and now["whole"] and now["document"] != page["document"]
        until(f"{self.name} shows another page than {page['heading']!r}", is_gone, 15)

    def settled_heading(self, wanted, seconds=4):
        """The heading, as soon as it is one of these, otherwise that at the end of this time."""
        wanted, end = list(wanted), time.monotonic() + seconds
        while True:
            shown = (self.look() or {}).get("heading")
            if shown in wanted or time.monotonic() > end:
                return shown
            time.sleep(0.1)

    def words(self):
        """The text below the page's heading."""
        page = self.look() or {"text": "", "heading": ""}
        return " ".join(page["text"][page["text"].find(page["heading"]):].split())[:200]

    def rectangles(self, selector):
        return self.run(RECTANGLES, selector)

    def rectangle(self, selector):
        """The position of the element; what opens at a tap, such as details, may take a moment to be drawn."""
        end = time.monotonic() + 5
        while not (found := self.rectangles(selector)):
            if time.monotonic() > end:
                raise Failure(f"no {selector} on the page {self.look()}")
            time.sleep(0.05)
        return found[0]

    def source(self):
        return self.driver.command("source")

    def deliberate(self):
        """Waits until the page has been painted for 1.2 s, by its own clock."""
        time.sleep(DELIBERATE)
        end = time.monotonic() + 10
        while time.monotonic() < end and ((painted := self.run(PAINTED)) is None or painted < DELIBERATE):
            time.sleep(0.05 if painted is None else max(0.01, DELIBERATE - painted))

    def activate(self, selector, before=1e9, hidden=False):
        """Activates these elements as a screen reader does, if the page is younger than this many milliseconds.

        Returns how many there were; None if the page is older or between two pages.
        """
        try:
            return self.run(ACTIVATE, selector, before, hidden)
        except CommandFailed:
            return None
