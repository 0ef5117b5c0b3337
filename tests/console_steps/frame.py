"""The frame: languages, colours, a path behind a proxy, accessibility."""

import re

from .proof import DESKTOP, PHONE, SOURCE, Page, Proof, Town, step

# Texts that are chosen by a name: the pattern of their keys in the source, and where the names come from.
CHOSEN = re.compile(r"t\(`([^`]*)`")


@step(None, fill=None)
def languages(proof: Proof, town: Town) -> None:
    """Both languages have the same texts, with the same slots, and all that the source names."""
    texts = {name: proof.texts(town.tideline, name) for name in ("en", "zh")}
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
    page = proof.page(proof.proxy(town.tideline, SOURCE).address)
    base = "new URL($('script[type=module]').src)"
    figures = "import(new URL('texts.js', args[0])).then(({ bytes, short, percent }) => [bytes(1022 * 1024), bytes(999), short(20_432), percent(0.99)])"
    proof.same("figures", page.run(figures, page.run(f"{base}.href")), ["1 MiB", "999 B", "20.4K", "99%"])
    source = "".join(path.read_text() for path in SOURCE.glob("*.js"))
    named = set(re.findall(r"""(?<![\w.])t\(\s*"([\w-]+)\"""", source))
    proof.same("texts that are missing", named - set(texts["en"]), set())
    quoted = set(re.findall(r'"([\w-]+)"', source)) | set(re.findall(r"(?m)^ +([\w-]+):", source))
    prefixes = [re.sub(r"\$\{[^}]*\}", "(.+)", chosen) for chosen in CHOSEN.findall(source)]
    for key in set(texts["en"]) - named - quoted:
        proof.holds(f"{key} is used", any(re.fullmatch(prefix, key) for prefix in prefixes))


@step(look={"language": "zh-CN"})
def chinese(proof: Proof, page: Page, town: Town) -> None:
    """A browser that is set to Chinese; the switch to English is kept."""
    page.shows("看谁的时间线？")
    page.look_up("ada", shows="仅查看： Ada Lindqvist")
    page.click(".mode [role=switch]", shows="正在代表 Ada Lindqvist")
    page.wait("$('.writer textarea')?.placeholder === '以 Ada Lindqvist 的身份发布'", "the writer")
    page.shows("分钟前")
    proof.same("the language of the page", page.run("document.documentElement.lang"), "zh-CN")
    page.wait("document.title === `Ada Lindqvist · Tideline · ${location.host}`", "the title")
    page.click("main button", "校验", shows="没有差异。这是整条时间线。")
    page.press("Escape")
    page.go("timeline/nobody", shows="没有用户使用此 ID")
    page.go("settings", shows="生效的设置")
    page.go("dashboard", shows="从发布到收件箱")
    page.shows("没有警报。没有已校验的备份。")
    page.click("[data-switch=language]", shows="From publish to inbox")
    page.open(town.address + "#/backups", shows="No backups yet")
    proof.same("the language of the page", page.run("document.documentElement.lang"), "en")


@step(None)
def prefix(proof: Proof, town: Town) -> None:
    """Below a path behind a proxy, streams and downloads included."""
    proxy = proof.proxy(town.tideline)
    page = proof.page(proxy.address, "has('.hero')")
    page.look_up("ada", shows="Two seals on the far rocks")
    page.act()
    town.publish("bob", "through")
    page.wait("text('.pill').trim() === '1 new'", "an item through the proxy")
    page.go("dashboard", then="count('.chart') > 10")
    page.go("backups", shows="No backups yet")
    page.open(page.run("$('a.docs[href=docs]').href"), then="count('.opblock') > 50")
    proof.same("the server of the calls", page.run("new URL($('.servers select').value, location).href"), proxy.address)
    proof.same("paths outside of the prefix", proxy.strays, [])


@step(fill=None, look={"dark": True})
def colours(proof: Proof, page: Page, town: Town) -> None:
    """Light and dark: as the system has it, or as chosen, and the choice is kept."""
    brightness = "getComputedStyle(document.documentElement).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3"
    is_dark = lambda: page.run(brightness) < 100
    proof.same("a dark system", is_dark(), True)
    page.look(dark=False)
    proof.same("a light system", is_dark(), False)
    page.click("[data-switch=theme]")
    page.click("[data-switch=theme]")
    proof.same("dark by choice", is_dark(), True)
    page.open(town.address, then="has('.hero')")
    proof.same("the choice is kept", is_dark(), True)
    page.look(dark=False, calm=True)
    moving = page.run("document.getAnimations().filter((animation) => animation.playState === 'running').length")
    proof.same("no motion for those who want none", moving, 0)


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


@step(None)
def accessibility(proof: Proof, town: Town) -> None:
    """Every page and window in both schemes of colours, on a desktop and on a phone."""
    town.told("POST", "/v1/admin/backups", {})
    town.told("PUT", "/v1/users/mei/lists/harbour", {"title": "The harbour", "exclusive": True})
    town.told("PUT", "/v1/users/mei/lists/harbour/members/bob", {"except": ["repost"]})
    town.told("PUT", "/v1/users/cem/suspension")
    town.publish("bob", "to-members", to=["choir"], audience="followers")
    town.publish("mei", "taken", "Taken")
    town.told("DELETE", "/v1/content/taken")
    guarded = proof.town("accessibility-keys", guarded=True)
    guarded.fill()
    for dark in (False, True):
        for name, look in (("desktop", DESKTOP), ("phone", PHONE)):
            kind = f"{name}, {'dark' if dark else 'light'}"
            page = proof.page(town.address, dark=dark, **look)
            for place, (address, sign) in PLACES.items():
                page.go(address, then=f"has('main {sign}')")
                proof.accessible(page, f"{place}, {kind}")
            page.go("")
            for what, text in (("users of late", None), ("users found", "m"), ("nobody found", "zzz")):
                page.click("#look-up")
                if text:
                    page.write(text)
                page.wait("has('.found :is([role=option], p)')", what)
                if text == "zzz":
                    page.shows("No id and no name begins so.")
                else:
                    page.press("ArrowDown")
                proof.accessible(page, f"{what}, {kind}")
                page.run("document.activeElement.select()")
            page.press("Escape", "Escape")
            page.go("timeline/ada")
            page.act()
            town.publish("mei", f"new {kind}")
            page.wait("has('.pill')", "a new item")
            proof.accessible(page, f"new items, {kind}")
            for window, button in (("Verify", "main button"), ("Why?", "main button"), ("More", "article button")):
                page.click(button, window, then="has('dialog[open]')")
                if window == "Verify":
                    page.shows("no difference")
                proof.accessible(page, f"{window}, {kind}")
                page.dismiss()
            page.go("user/ada")
            for window in ("Edit profile", "Settings", "Suspend"):
                page.click(".profile button", window, then="has('dialog :is(.field, .check, .strong)')")
                proof.accessible(page, f"{window}, {kind}")
                page.dismiss()
            page.press("?", then="has('dialog[open]')")
            proof.accessible(page, f"the keys, {kind}")
            proof.clean(page, {404})
            page = proof.page(guarded.address, dark=dark, **look)
            page.sign_in("wrong", then="has('.problem')")
            proof.accessible(page, f"the sheet, {kind}")
            page.enter(proof.key, "input[name=credential]", then="has('.hero')")
            page.go("settings")
            page.enter("ada", "input[name=token-user]", then="has('.made pre')")
            proof.accessible(page, f"a token, {kind}")
            proof.clean(page, {401, 403, 404})
