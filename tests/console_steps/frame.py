"""The frame: languages, colours, a path behind a proxy, accessibility."""

import re

from .proof import DESKTOP, PHONE, SOURCE, Proof, act, go, look_up, shows, sign_in

# Texts that are chosen by a name: the pattern of their keys in the source, and where the names come from.
CHOSEN = re.compile(r"t\(`([^`]*)`")


def languages(proof: Proof) -> None:
    """Both languages have the same texts, with the same slots, and all that the source names."""
    tideline, _ = proof.open_server("languages")
    texts = {name: proof.texts(tideline, name) for name in ("en", "zh")}
    proof.same("keys of Chinese", sorted(texts["zh"]), sorted(texts["en"]))

    def slots(text: object) -> set[str]:
        forms = [text] if isinstance(text, str) else list(text.values())
        return {slot for form in forms for slot in re.findall(r"\{(\w+)\}", form)}

    for key, text in texts["en"].items():
        other = texts["zh"].get(key, "")
        proof.same(f"slots of {key}", slots(other), slots(text))
        proof.holds(f"{key} is not empty", text and other)
        proof.holds(f"{key} has a form for every number", isinstance(text, str) or "other" in text and "other" in other)
        proof.same(f"{key} is translated", isinstance(text, str) and len(text) > 12 and text == other, False)
    page = proof.page(proof.proxy(tideline, SOURCE).address)
    base = "new URL(document.querySelector('script[type=module]').src)"
    figures = "import(new URL('texts.js', args[0])).then(({ bytes, short, percent }) => [bytes(1022 * 1024), bytes(999), short(20_432), percent(0.99)])"
    proof.same("figures", page.run(figures, page.run(f"{base}.href")), ["1 MiB", "999 B", "20.4K", "99%"])
    source = "".join(path.read_text() for path in SOURCE.glob("*.js"))
    named = set(re.findall(r"""(?<![\w.])t\(\s*"([\w-]+)\"""", source))
    proof.same("texts that are missing", named - set(texts["en"]), set())
    quoted = set(re.findall(r'"([\w-]+)"', source)) | set(re.findall(r"(?m)^ +([\w-]+):", source))
    prefixes = [re.sub(r"\$\{[^}]*\}", "(.+)", chosen) for chosen in CHOSEN.findall(source)]
    for key in set(texts["en"]) - named - quoted:
        proof.holds(f"{key} is used", any(re.fullmatch(prefix, key) for prefix in prefixes))
    proof.clean(page)


def chinese(proof: Proof) -> None:
    """A browser that is set to Chinese; the switch to English is kept."""
    tideline, town = proof.open_server("chinese")
    town.fill()
    page = proof.page(proof.address(tideline), language="zh-CN")
    shows(page, "看谁的时间线？")
    look_up(page, "ada")
    shows(page, "仅查看： Ada Lindqvist")
    page.click(".mode [role=switch]")
    shows(page, "正在代表 Ada Lindqvist")
    page.wait("document.querySelector('.writer textarea')?.placeholder === '以 Ada Lindqvist 的身份发布'", "the writer")
    shows(page, "分钟前")
    proof.same("the language of the page", page.run("document.documentElement.lang"), "zh-CN")
    page.wait("document.title === `Ada Lindqvist · Tideline · ${location.host}`", "the title")
    page.click("main button", "校验")
    shows(page, "没有差异。这是整条时间线。")
    page.press("Escape")
    go(page, "timeline/nobody")
    shows(page, "没有用户使用此 ID")
    go(page, "settings")
    shows(page, "生效的设置")
    go(page, "dashboard")
    shows(page, "从发布到收件箱")
    shows(page, "没有警报。没有已校验的备份。")
    page.click("[data-switch=language]")
    shows(page, "From publish to inbox")
    page.open(proof.address(tideline) + "#/backups")
    shows(page, "No backups yet")
    proof.same("the language of the page", page.run("document.documentElement.lang"), "en")
    proof.clean(page)


def prefix(proof: Proof) -> None:
    """Below a path behind a proxy, streams and downloads included."""
    tideline, town = proof.open_server("prefix")
    town.fill()
    proxy = proof.proxy(tideline)
    page = proof.page(proxy.address)
    page.wait("!!document.querySelector('.hero')", "the first page")
    look_up(page, "ada")
    shows(page, "Two seals on the far rocks")
    act(page)
    town.publish("bob", "through")
    page.wait("document.querySelector('.pill')?.innerText.trim() === '1 new'", "an item through the proxy")
    go(page, "dashboard")
    page.wait("document.querySelectorAll('.chart').length > 10", "the dashboard")
    go(page, "backups")
    shows(page, "No backups yet")
    proof.same("the description of the API", page.run("fetch(document.querySelector('a.docs[href=docs]').href).then(({ status }) => status)"), 200)
    proof.same("paths outside of the prefix", proxy.strays, [])
    proof.clean(page)


def colours(proof: Proof) -> None:
    """Light and dark: as the system has it, or as chosen, and the choice is kept."""
    tideline, _ = proof.open_server("colours")
    page = proof.page(proof.address(tideline), dark=True)
    page.wait("!!document.querySelector('.hero')", "the first page")
    brightness = "getComputedStyle(document.documentElement).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3"
    is_dark = lambda: page.run(brightness) < 100
    proof.same("a dark system", is_dark(), True)
    page.look(dark=False)
    proof.same("a light system", is_dark(), False)
    page.click("[data-switch=theme]")
    page.click("[data-switch=theme]")
    proof.same("dark by choice", is_dark(), True)
    page.open(proof.address(tideline))
    page.wait("!!document.querySelector('.hero')", "the first page")
    proof.same("the choice is kept", is_dark(), True)
    page.look(dark=False, calm=True)
    moving = page.run("document.getAnimations().filter((animation) => animation.playState === 'running').length")
    proof.same("no motion for those who want none", moving, 0)
    proof.clean(page)


PLACES = {
    "the first page": ("", ".hero"),
    "the timeline": ("timeline/ada", "article"),
    "a user": ("user/mei/content", "article"),
    "a list of users": ("user/mei/followers", ".person"),
    "an empty list": ("user/mei/mutes", ".empty"),
    "the lists of a user": ("user/mei/lists", "li.card"),
    "members of a list": ("list/mei/harbour/members", ".person"),
    "the timeline of a list": ("list/mei/harbour", "article"),
    "a suspended user": ("user/cem", ".tag.failed"),
    "an item of a group": ("item/to-members", ".sources"),
    "an item": ("item/post-0", ".feed article"),
    "a list of people": ("user/ada/following", ".person"),
    "notices": ("user/ada/notices", ".notice"),
    "requests": ("user/dot/follow-requests", ".note [role=switch]"),
    "choosing items": ("user/mei/content/select", ".pick"),
    "moderation": ("moderation", ".taken"),
    "the changes": ("changes", ".changes li"),
    "an unknown id": ("timeline/%20ada", ".people a"),
    "no page": ("nonsense", ".empty"),
    "a missing item": ("item/none", ".empty"),
    "a topic": ("topic/sea", "article"),
    "the dashboard": ("dashboard", ".chart .line"),
    "the backups": ("backups", ".backup"),
    "the settings": ("settings", ".sections dd"),
}


def accessibility(proof: Proof) -> None:
    """Every page and window in both schemes of colours, on a desktop and on a phone."""
    tideline, town = proof.open_server("accessibility")
    town.fill()
    town.told("POST", "/v1/admin/backups", {})
    town.told("PUT", "/v1/users/mei/lists/harbour", {"title": "The harbour", "exclusive": True})
    town.told("PUT", "/v1/users/mei/lists/harbour/members/bob", {"except": ["repost"]})
    town.told("PUT", "/v1/users/cem/suspension")
    town.publish("bob", "to-members", to=["choir"], audience="followers")
    town.publish("mei", "taken", "Taken")
    town.told("DELETE", "/v1/content/taken")
    guarded, other = proof.guarded("accessibility-keys")
    other.fill()
    for dark in (False, True):
        for name, look in (("desktop", DESKTOP), ("phone", PHONE)):
            kind = f"{name}, {'dark' if dark else 'light'}"
            page = proof.page(proof.address(tideline), dark=dark, **look)
            for place, (address, sign) in PLACES.items():
                go(page, address)
                page.wait("!!document.querySelector(args[0])", place, f"main {sign}")
                proof.accessible(page, f"{place}, {kind}")
            go(page, "")
            for what, text in (("users of late", None), ("users found", "m"), ("nobody found", "zzz")):
                page.click("#look-up")
                if text:
                    page.write(text)
                page.wait("!!document.querySelector('.found :is([role=option], p)')", what)
                if text == "zzz":
                    shows(page, "No id and no name begins so.")
                else:
                    page.press("ArrowDown")
                proof.accessible(page, f"{what}, {kind}")
                page.run("document.activeElement.select()")
            page.press("Escape", "Escape")
            go(page, "timeline/ada")
            act(page)
            town.publish("mei", f"new {kind}")
            page.wait("!!document.querySelector('.pill')", "a new item")
            proof.accessible(page, f"new items, {kind}")
            windows = [("Verify", "main button"), ("Why?", "main button"), ("More", "article button")]
            for window, button in windows:
                page.click(button, window)
                page.wait("!!document.querySelector('dialog[open]')", window)
                if window == "Verify":
                    shows(page, "no difference")
                proof.accessible(page, f"{window}, {kind}")
                page.press("Escape")
                page.wait("!document.querySelector('dialog')", f"{window} closes")
            go(page, "user/ada")
            for window in ("Edit profile", "Settings", "Suspend"):
                page.click(".profile button", window)
                page.wait("!!document.querySelector('dialog :is(.field, .check, .strong)')", window)
                proof.accessible(page, f"{window}, {kind}")
                page.press("Escape")
                page.wait("!document.querySelector('dialog')", f"{window} closes")
            page.press("?")
            page.wait("!!document.querySelector('dialog[open]')", "the keys")
            proof.accessible(page, f"the keys, {kind}")
            proof.clean(page, {404})
            page = proof.page(proof.address(guarded), dark=dark, **look)
            sign_in(page, "wrong")
            page.wait("!!document.querySelector('.problem')", "the refusal")
            proof.accessible(page, f"the sheet, {kind}")
            page.run("document.querySelector('input[name=credential]').select()")
            page.write(proof.key)
            page.press("Enter")
            page.wait("!!document.querySelector('.hero')", "the first page")
            go(page, "settings")
            page.click("input[name=token-user]")
            page.write("ada")
            page.press("Enter")
            page.wait("!!document.querySelector('.made pre')", "a token")
            proof.accessible(page, f"a token, {kind}")
            proof.clean(page, {401, 403, 404})
