"""Rare things: odd data, typing errors, a server that is away, a tab in the background."""

from support.devtools import Page
from support.expect import until

from .proof import PHONE, Proof, Town, act, go, is_live, item, shows

HIDDEN = """(Object.defineProperty(document, "hidden", { configurable: true, get: () => args[0] }),
  document.dispatchEvent(new Event("visibilitychange")), true)"""
# The contrast of a button's text, as WCAG measures it, with the colours that the pixels of a canvas have.
CONTRAST = """((button) => {
  const light = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const { color, backgroundColor } = getComputedStyle(button);
  const [a, b] = [light(color), light(backgroundColor)].sort((a, b) => b - a);
  return (a + 0.05) / (b + 0.05);
})(document.querySelector(args[0]))"""


def pointer(page: Page, selector: str, text: str | None = None) -> None:
    """Moves the pointer over an element."""
    x, y = page.place(selector, text)
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


def odd_items(proof: Proof) -> None:
    """One odd item takes nothing from the others."""
    tideline, town = proof.open_server("odd-items")
    town.follow("reader", "odd", "plain")
    town.told("PUT", "/v1/users/odd", {"nickname": "\u202edlrow", "extra": {"bio": "Writes from right to left"}})
    town.publish("plain", "plain")
    for name, url in (("no-host", "https://"), ("no-name", "http://[bad"), ("broken", "data:image/png;base64,AAAA")):
        town.publish("odd", name, media=[{"type": "image", "url": url, "alt": f"alt of {name}"}])
    town.publish("odd", "long", "A long sentence without an end. " * 90)
    page = proof.page(proof.address(tideline) + "#/timeline/reader")
    page.wait("document.querySelectorAll('article').length === 5", "all items")
    page.wait("document.querySelector('[data-id=broken] .media').innerText === 'alt of broken'", "the text instead of a broken picture")
    high = "document.querySelector('[data-id=long] .text').getBoundingClientRect().height"
    before = page.run(high)
    page.click(item(page, "long", "button"), "Show all")
    proof.holds("the whole text", page.run(high) > 2 * before)
    # A letter that would turn the others is shown as its code.
    proof.same("the name", page.run("document.querySelector('[data-id=long] .names').innerText.split('\\n')[0].trim()"), "U+202Edlrow")
    places = page.run("""[...document.querySelector('[data-id=long] .id bdi').firstChild.data].map((_, i) => {
      const range = document.createRange();
      range.setStart(document.querySelector('[data-id=long] .id bdi').firstChild, i);
      range.setEnd(document.querySelector('[data-id=long] .id bdi').firstChild, i + 1);
      return range.getBoundingClientRect().left;
    })""")
    proof.same("the letters of the id go to the right", places, sorted(places))
    # Whatever drawing an item throws, only this item is missing.
    page.run("(window.parse = URL.canParse, URL.canParse = () => { throw new Error('odd') }, true)")
    go(page, "user/odd")
    page.wait("document.querySelectorAll('article').length === 4", "the list of the author")
    proof.same("the items that cannot be shown", sorted(page.run(
        "[...document.querySelectorAll('article')].filter((one) => one.innerText.includes('cannot be shown')).map((one) => one.dataset.id)")),
        ["no-host", "no-name"])
    page.run("URL.canParse = window.parse")
    shows(page, "Writes from right to left")
    proof.clean(page)


def avatars(proof: Proof) -> None:
    """A user chooses the address of an avatar. No browser of a reader asks this server for it, nor a server that the
    settings do not name."""
    image = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3C/svg%3E"
    # Nothing listens there: the request alone tells.
    listed = "https://127.0.0.1:65535"
    tideline = proof.server("avatars", {"server.avatar_origins": listed})
    town = Town(tideline.address)
    own = proof.address(tideline)
    for avatar in ("v1/topics/taken/content", "/v1/topics/taken/content", "data:text/html,taken"):
        proof.same(f"a profile with {avatar}", town.client.call("PUT", "/v1/users/short", {"avatar": avatar}).status, 400)
    refused = {"whole": own + "v1/topics/taken/content", "other": "https://127.0.0.2:9/taken.png", "plain": "http://127.0.0.1:9/taken.png"}
    for user, avatar in (refused | {"inline": image, "listed": listed + "/ann.png"}).items():
        town.follow("reader", user)
        town.told("PUT", f"/v1/users/{user}", {"avatar": avatar})
        town.publish(user, f"of-{user}")
    page = proof.page(own + "#/timeline/reader")
    page.wait("document.querySelectorAll('article').length === 5", "all items")
    page.wait("[...document.querySelectorAll('article img.avatar')].every((one) => one.complete && one.naturalWidth)", "the pictures")
    proof.same("pictures", page.run("[...document.querySelectorAll('article img.avatar')].map((one) => one.getAttribute('src'))"), [image])
    proof.same("requests for avatars", {url for _, url in page.failed}, {listed + "/ann.png"})
    # The policy of the page forbids such a picture, whatever its code does.
    blocked = "new Promise((done) => { const one = new Image(); one.onload = one.onerror = (e) => done(e.type); one.src = args[0]; })"
    proof.same("another picture of this server", page.run(blocked, refused["whole"]), "error")
    counted = {name: count for name, count in town.client.figures().items() if "requests_total" in name and "/v1/topics/" in name}
    proof.same("calls of the API by avatars", sum(counted.values()), 0)
    page.close()


def typing_errors(proof: Proof) -> None:
    """An id, a page or an item that is not there is told as such."""
    tideline, town = proof.open_server("typing")
    page = proof.page(proof.address(tideline))
    shows(page, "Tideline is a server of timelines")
    shows(page, "No users yet")
    town.told("PUT", "/v1/users/1", {"nickname": "Robin"})
    page.open(proof.address(tideline))
    page.wait("[...document.querySelectorAll('.people .names b')].map((name) => name.innerText).join() === 'Robin,Robin'", "one to begin with")
    page.click("#look-up")
    page.write(" 1")
    page.press("Enter")
    shows(page, "Nobody has this id")
    proof.same("the space is seen", page.run("document.querySelector('.nobody .unseen').title"), "U+0020")
    proof.same("no composer, no timeline, nobody watched", page.run("!!document.querySelector('.writer, .feed, .profile, .mode')"), False)
    proof.same("not looked up", page.run("sessionStorage['tideline.recent'] ?? '[]'"), "[]")
    page.click(".people a")
    page.wait("location.hash === '#/timeline/1'", "the id without the space")
    page.wait("document.querySelector('h1').innerText === 'Robin' && !document.querySelector('.nobody')", "the user")
    # Only who acts may open it all the same.
    go(page, "timeline/%201")
    page.click(".nobody button", "Act as this user")
    is_live(page)
    page.wait("document.querySelector('.mode.acts') && document.querySelector('.writer')", "acting for the new id")
    proof.same("the space is seen in the title", page.run("document.querySelector('h1 .unseen').title"), "U+0020")
    until("online by the stream of the page", lambda: town.told("GET", "/v1/users/%201/presence")["online"])
    page.settled()
    proof.same("not online by this page", page.run("!!document.querySelector('.tag.live')"), False)
    page.click(".mode [role=switch]")
    page.wait("!!document.querySelector('.nobody') && !document.querySelector('.writer, .mode')", "nobody again")
    go(page, "user/nobody/followers")
    shows(page, "Nobody has this id")
    go(page, "list/nobody/of")
    shows(page, "Nobody has this id")
    page.click("#look-up")
    page.write(".")
    page.press("Enter")
    page.wait("document.querySelector('#look-up').validationMessage.includes('browsers')", "the reason")
    # The last ones are names that every object of JavaScript has.
    for place, title in (
        ("timeline/.", "This id cannot be looked up"), ("nonsense", "No such page"), ("timeline/%E0%A4", "No such page"),
        ("__proto__", "No such page"), ("user/1", "Robin"), ("constructor/hi", "No such page"), ("user/1/constructor", "Robin"),
        ("toString", "No such page"), ("user/1/__proto__", "Robin"),
    ):
        go(page, place)
        page.wait("document.querySelector('h1')?.innerText === args[0]", place, title)
        if place.startswith("user/1/"):
            proof.same(f"the list of {place}", page.run("document.querySelector('.tabs [aria-current]')?.firstChild.textContent"), "Items")
    go(page, "item/none")
    shows(page, "There is no such item")
    proof.same("nothing to try again", page.run("[...document.querySelectorAll('main button')].filter((one) => one.innerText.includes('again')).length"), 0)
    page.click("[data-switch=language]")
    shows(page, "没有这条内容")
    proof.clean(page, {404})


def empty_lists(proof: Proof) -> None:
    """The reason of an empty timeline, its first item, what a publish tells, and how to take an unfollow back."""
    tideline, town = proof.open_server("empty")
    for user in ("Ann", "Reader"):
        town.told("PUT", f"/v1/users/{user.lower()}", {"nickname": user})
    page = proof.page(proof.address(tideline) + "#/timeline/reader")
    shows(page, "follows nobody yet")
    town.follow("reader", "ann")
    page.open(proof.address(tideline) + "#/timeline/reader")
    shows(page, "Nobody whom this user follows has published")
    act(page)
    town.publish("ann", "first")
    page.wait("document.querySelector('article')?.dataset.id === 'first'", "the first item at once")
    town.publish("ann", "second")
    page.wait("document.querySelector('.pill')?.innerText.trim() === '1 new'", "the second one waits")

    page.click(".writer textarea")
    page.write("Mine")
    page.click(".writer button", "Publish")
    shows(page, "Your own items are on your page.")
    page.wait("!!document.querySelector('.writer button:hover')?.disabled", "a disabled button under the pointer")
    page.run("Promise.all(document.getAnimations().map(({ finished }) => finished))")
    proof.holds("its text can be read", page.run(CONTRAST, ".writer button") >= 4.5)

    # A draft stays while the page is open.
    page.click(".writer textarea")
    page.write("Not yet")
    go(page, "dashboard")
    page.wait("!!document.querySelector('.chart')", "the dashboard")
    page.run("history.back()")
    page.wait("document.querySelector('.writer textarea')?.value === 'Not yet'", "the draft")

    go(page, "user/reader/following")
    shows(page, "followed")
    # Under the pointer, also if the row moves once more.
    meaning = lambda: (pointer(page, ".person button"), page.run("document.querySelector('.person button').innerText.trim()"))[1]
    until("the meaning of a press", lambda: meaning() == "Unfollow")
    page.click(".person button", "Unfollow")
    until("unfollowed", lambda: town.relation("reader", "ann")["relation"] == "none")
    page.click(".message button", "Undo")
    until("followed again", lambda: town.relation("reader", "ann")["relation"] == "following")
    page.click(".profile button", "Edit profile")
    page.wait("document.activeElement.name === 'nickname'", "the own profile can be edited here, too")
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "the window closes")
    beyond = "[...document.querySelectorAll('.tabs a')].filter((tab) => tab.getBoundingClientRect().right > document.querySelector('.tabs').getBoundingClientRect().right + 1).length"
    proof.same("all lists are seen", page.run(beyond), 0)

    # Messages are above a window, and a page without a clipboard copies, too.
    page.run("(Object.defineProperty(navigator, 'clipboard', { value: undefined }), true)")
    go(page, "user/ann")
    page.click(item(page, "second", "button"), "More")
    page.click("dialog button", "Copy the id")
    page.wait("document.querySelector('dialog .message')?.innerText.includes('Copied')", "the message in the window")
    page.press("Escape")
    page.wait("!document.querySelector('dialog') && document.querySelector('.message')?.innerText.includes('Copied')", "the same message after it")
    proof.clean(page)

    page = proof.page(proof.address(tideline) + "#/user/ann/hidden-from", **PHONE)
    page.wait("!!document.querySelector('.tabs')", "the lists")
    page.wait("document.querySelector('.tabs [aria-current]').getBoundingClientRect().right <= innerWidth - 30", "the present list is seen")
    proof.clean(page)


def away(proof: Proof) -> None:
    """A page of a user comes back with the server; a tab in the background gives up its stream; a read whose connection
    is lost is sent again at once."""
    tideline, town = proof.open_server("away")
    town.fill()
    proxy = proof.proxy(tideline)
    page = proof.page(proxy.address + "#/timeline/ada")
    act(page)
    page.run(HIDDEN, True)
    page.wait("document.querySelector('.live-state').innerText.includes('Paused')", "the pause of a hidden tab", seconds=15)
    town.publish("mei", "meanwhile")
    page.run(HIDDEN, False)
    page.wait("document.querySelector('.pill')?.innerText.trim() === '1 new'", "what came meanwhile")
    for lost, user in ((proxy.refused, "cem"), (proxy.cut, "dot")):
        lost.add(f"/v1/users/{user}/content")
        go(page, f"user/{user}")
        page.wait("!!document.querySelector('main article, main .problem')", "the items, or a problem")
        proof.same("a lost answer", (lost, page.run("!!document.querySelector('main .problem')")), (set(), False))
    tideline.stop()
    go(page, "user/mei")
    page.wait("!!document.querySelector('main .problem')", "the problem")
    go(page, "dashboard")
    page.wait("document.querySelectorAll('.tiles dd').length > 3", "the tiles")
    proof.same("figures that are not known", page.run("[...new Set([...document.querySelectorAll('.tiles dd')].map((tile) => tile.innerText))]"), ["–"])
    go(page, "user/bob")
    page.wait("!!document.querySelector('main .problem')", "the problem")
    tideline.start()
    proxy.server = tideline.address
    town = Town(tideline.address)
    town.told("PUT", "/v1/users/bob/presence", {"online": True})
    page.wait("document.querySelector('h1').innerText === 'Bob Okafor' && document.querySelectorAll('article').length === 2", "the page by itself")
    page.wait("!!document.querySelector('.tag.live')", "the badge")
    proof.holds("no problem is left", not page.run("document.querySelector('main .problem')"))
    proof.clean(page, {502}, is_cut=True)
