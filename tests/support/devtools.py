"""A page in a real browser without a window, driven over the DevTools protocol.

The protocol goes over a pair of pipes (`--remote-debugging-pipe`), so this needs chromium and Python only.
"""

import base64
import itertools
import json
import os
import queue
import subprocess
import tempfile
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from .browser import end, flags
from .expect import Unexpected, until

# How long the browser may take for an answer, and a condition to come true, seconds.
PATIENCE = 60
# Longest time from a press to its click, seconds. An element that goes meanwhile gets none.
CLICK = 5
KEYS = {
    "Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), "Home": (36, ""), "End": (35, ""), "PageDown": (34, ""),
    "ArrowUp": (38, ""), "ArrowDown": (40, ""), " ": (32, " "),
}

# The functions that every script may call.
WORDS = """const $ = (selector) => document.querySelector(selector), $$ = (selector) => [...document.querySelectorAll(selector)];
  const has = (selector) => !!$(selector), count = (selector) => $$(selector).length;
  const text = (selector) => $(selector)?.innerText ?? "", texts = (selector) => $$(selector).map((one) => one.innerText);
  const first = (selector = "article") => $(selector)?.dataset.id, alone = () => $(".alone article")?.dataset.id;"""
# The place of an element that stands still and is not covered, or null. For a click, a press of the mouse that meets
# another element then does nothing.
AIM = """(async () => {
  const [selector, text, isClick] = args;
  const found = [...document.querySelectorAll(selector)].find((element) =>
    element.checkVisibility() && (text === null || (element.ariaLabel ?? element.innerText).trim() === text
      || element.innerText.trim() === text));
  if (!found || found.disabled) return null;
  const middle = () => (({ x, y, width, height }) => [x + width / 2, y + height / 2])(found.getBoundingClientRect());
  const isFree = () => found.contains(document.elementFromPoint(...middle()));
  found.scrollIntoView({ block: "nearest", behavior: "instant" });
  if (!isFree()) found.scrollIntoView({ block: "center", behavior: "instant" });
  const before = middle();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
  if (!found.isConnected || middle().join() !== before.join() || !isFree()) return null;
  if (!isClick) return before;
  window.aim?.end.abort();
  const aim = (window.aim = { isMet: false, isPressed: false, end: new AbortController() });
  const check = (event) => {
    const isMet = found.isConnected && found.contains(event.target);
    if (!isMet) event.preventDefault(), event.stopImmediatePropagation();
    aim.isMet = isMet && event.type === "click";
    aim.isPressed = isMet && event.type === "mousedown";
  };
  for (const kind of ["mousedown", "click"]) addEventListener(kind, check, { capture: true, once: true, signal: aim.end.signal });
  return before;
})()"""


class Browser:
    """A browser with a new profile."""

    def __init__(self, program: str):
        self.profile = tempfile.mkdtemp(prefix="tideline-browser-")
        there, self.out = os.pipe()
        self.inp, back = os.pipe()

        def place() -> None:
            # The browser reads from descriptor 3 and writes to 4.
            first, second = os.dup(there), os.dup(back)
            os.dup2(first, 3)
            os.dup2(second, 4)

        options = ["--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--hide-scrollbars", *flags()]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([program, *options], preexec_fn=place, close_fds=False, start_new_session=True, **quiet)
        os.close(there)
        os.close(back)
        self.numbers = itertools.count(1)
        self.answers: dict[int, queue.Queue] = {}
        self.pages: dict[str, "Page"] = {}
        # States of downloads by their ids, once `Browser.setDownloadBehavior` wants to hear of them.
        self.downloads: dict[str, str] = {}
        self.lock = threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        rest = b""
        while part := os.read(self.inp, 1 << 20):
            *messages, rest = (rest + part).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    # What comes too late is wanted by nobody.
                    if answer := self.answers.get(message["id"]):
                        answer.put(message)
                elif message["method"] == "Browser.downloadProgress":
                    self.downloads[message["params"]["guid"]] = message["params"]["state"]
                elif page := self.pages.get(message.get("sessionId", "")):
                    page.heard(message["method"], message["params"])

    def send(self, method: str, session: str | None = None, **params: object) -> dict[str, Any]:
        """One command and its result."""
        number = next(self.numbers)
        self.answers[number] = queue.Queue()
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        with self.lock:
            os.write(self.out, json.dumps(message).encode() + b"\0")
        try:
            answer = self.answers[number].get(timeout=PATIENCE)
        except queue.Empty:
            raise Unexpected(f"the browser did not answer {method} within {PATIENCE} s") from None
        finally:
            del self.answers[number]
        if "error" in answer:
            raise Unexpected(f"{method}: {answer['error']}")
        return answer["result"]

    def page(self, kind: "type[Page] | None" = None, **look: object) -> "Page":
        """A new page, with storage of its own."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        target = self.send("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = (kind or Page)(self, session, context)
        self.pages[session] = page
        page.prepare(**look)
        return page

    def close(self) -> None:
        """Ends the browser, and removes all that it wrote."""
        os.close(self.out)
        end(self.process, self.profile)


class Page:
    """One page. `errors` has what its console would show in red but for requests: `refused` has those with an answer
    of 400 or more, and `failed` those without an answer. `hosts` are the servers that it asked."""

    def __init__(self, browser: Browser, session: str, context: str):
        self.browser = browser
        self.session = session
        self.context = context
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.refused: list[tuple[int, str]] = []
        self.failed: list[tuple[str, str]] = []
        self.asked: dict[str, str] = {}
        # Whether a request was lost because the machine got or lost an address, as with every container that it starts.
        # The browser then ends all requests, those to this machine, too.
        self.is_lost = False

    def send(self, method: str, **params: object) -> dict[str, Any]:
        return self.browser.send(method, self.session, **params)

    def heard(self, method: str, params: dict[str, Any]) -> None:
        """An event of the browser."""
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(part.get("value", part.get("description"))) for part in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            # `refused` and `failed` have these.
            if entry["source"] != "network":
                self.errors.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            url = self.asked[params["requestId"]] = params["request"]["url"]
            if not url.startswith(("data:", "blob:", "about:")):
                self.hosts.add(urlsplit(url).netloc)
        elif method == "Network.responseReceived" and params["response"]["mimeType"] == "text/event-stream":
            # It has no end.
            self.asked.pop(params["requestId"], None)
        elif method == "Network.responseReceived" and params["response"]["status"] >= 400:
            self.refused.append((params["response"]["status"], params["response"]["url"]))
        elif method == "Network.loadingFinished":
            self.asked.pop(params["requestId"], None)
        elif method == "Network.loadingFailed":
            url = self.asked.pop(params["requestId"], "")
            if params["errorText"] == "net::ERR_NETWORK_CHANGED":
                self.is_lost = True
            # The page itself takes back what it needs no more.
            elif not params.get("canceled"):
                self.failed.append((params["errorText"], url))

    def prepare(
        self, width: int = 1280, height: int = 860, phone: bool = False, dark: bool = False, language: str = "en", calm: bool = True,
    ) -> None:
        """How the page is shown."""
        for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.send("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.send("Emulation.setLocaleOverride", locale=language)
        # Also while another page is used.
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)
        agent = self.browser.send("Browser.getVersion")["userAgent"]
        self.send("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)
        self.look(dark, calm)

    def look(self, dark: bool, calm: bool = True) -> None:
        """The scheme of colours, and whether the reader wants little motion."""
        features = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce" if calm else ""}
        self.send("Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in features.items()])

    def open(self, address: str) -> None:
        """Leads the page to an address, and waits until it is loaded, with all its parts."""
        def is_whole() -> bool:
            self.is_lost = False
            self.send("Page.navigate", url="about:blank")
            # The browser does not tell the end of all that it asked for the page before.
            self.asked.clear()
            self.send("Page.navigate", url=address)
            self.wait("document.readyState === 'complete' && location.href !== 'about:blank'", f"{address} loads")
            return not self.is_lost

        until(f"{address} loads without a change of the network", is_whole)

    def run(self, script: str, *arguments: object) -> Any:
        """The value of an expression, after its promise; `args` has the arguments."""
        source = f"(async () => {{ {WORDS} const args = {json.dumps(arguments)}; return ({script}); }})()"
        answer = self.send("Runtime.evaluate", expression=source, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Unexpected(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, condition: str, what: str, *arguments: object, seconds: float = PATIENCE) -> Any:
        """Waits until an expression is true; returns its value."""
        def holds() -> Any:
            try:
                return self.run(condition, *arguments)
            except Unexpected as failed:
                if "navigated" not in str(failed) and "context" not in str(failed):
                    raise
                return None

        return until(lambda: f"{what} ({condition} {arguments or ''}); the page says:\n{self.text()[:1500]}", holds, seconds)

    def text(self) -> str:
        """All that the page shows."""
        return self.run("document.body?.innerText ?? ''")

    def drawn(self) -> None:
        """Waits until the page is drawn twice, as a person does: by then it has moved the focus where it wants it."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0, true))))")

    def settled(self) -> None:
        """Waits until the page shows all that it has asked the API for. Streams have no end."""
        def is_answered() -> bool:
            self.drawn()
            return all("/v1/" not in url or url.endswith("/stream") for url in list(self.asked.values()))

        until("the answers for the page", is_answered)
        self.drawn()

    def press(self, *keys: str) -> None:
        """Presses keys one after another, each when the page is drawn. Those of one text with spaces follow each other
        at once. A name with `Shift+` or `Control+` before it holds that key, too."""
        for chord in keys:
            self.drawn()
            for key in chord.split(" ") if len(chord) > 1 else [chord]:
                self.key(key)

    def key(self, key: str) -> None:
        *held, key = key.split("+") if len(key) > 1 else [key]
        code, text = KEYS.get(key, (ord(key[0].upper()), key))
        modifiers = sum({"Shift": 8, "Control": 2}[name] for name in held)
        event = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        text = text if "Control" not in held else ""
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **event, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def write(self, text: str) -> None:
        """Puts text where the focus is."""
        self.send("Input.insertText", text=text)

    def click(self, selector: str, text: str | None = None) -> None:
        """Clicks the first seen element that a selector finds, and that has this text or label. If the page moves under
        the pointer, nothing is clicked, and the click is tried again."""
        def is_clicked() -> bool:
            x, y = self.place(selector, text, True)
            for kind in ("mousePressed", "mouseReleased"):
                self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
            # A busy browser may tell the page of a press, and of the click later. A second click would undo the first.
            end = time.monotonic() + CLICK
            while self.run("aim.isPressed") and time.monotonic() < end:
                time.sleep(0.02)
            return self.run("aim.isMet")

        until(f"a click on {selector} {text or ''}", is_clicked)

    def place(self, selector: str, text: str | None = None, is_click: bool = False) -> list[float]:
        """The middle of an element, once it stands still and can be clicked there."""
        return self.wait(AIM, f"{selector} {text or ''} can be clicked", selector, text, is_click)

    def picture(self, full: bool = False) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"])

    def memory(self) -> dict[str, float]:
        """Bytes of live objects, and the number of nodes, after a collection of garbage."""
        self.send("HeapProfiler.collectGarbage")
        figures = {figure["name"]: figure["value"] for figure in self.send("Performance.getMetrics")["metrics"]}
        return {"bytes": figures["JSHeapUsedSize"], "nodes": figures["Nodes"], "listeners": figures["JSEventListeners"]}

    def is_open(self) -> bool:
        return self.session in self.browser.pages

    def close(self) -> None:
        if self.browser.pages.pop(self.session, None):
            self.browser.send("Target.disposeBrowserContext", browserContextId=self.context)
