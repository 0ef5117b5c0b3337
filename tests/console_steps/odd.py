"""Rare things: odd data, typing errors, a server that is away, a tab in the background."""

from support.expect import until

from .proof import PHONE, Page, Proof, Town, item, step

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
})($(args[0]))"""


# Nothing listens there: the request alone tells.
LISTED = "https://127.0.0.1:65535"


def pointer(page: Page, selector: str, text: str | None = None) -> None:
    """Moves the pointer over an element."""
    x, y = page.place(selector, text)
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


@step(None, fill=None)
def odd_items(proof: Proof, town: Town) -> None:
    """One odd item takes nothing from the others."""
    town.follow("reader", "odd", "plain")
    town.told("PUT", "/v1/users/odd", {"nickname": "\u202edlrow", "extra": {"bio": "Writes from right to left"}})
    town.publish("plain", "plain")
    for name, url in (("no-host", "https://"), ("no-name", "http://[bad"), ("broken", "data:image/png;base64,AAAA")):
        town.publish("odd", name, media=[{"type": "image", "url": url, "alt": f"alt of {name}"}])
    town.publish("odd", "long", "A long sentence without an end. " * 90)
    page = proof.page(town.address + "#/timeline/reader", "count('article') === 5")
    page.wait("text('[data-id=broken] .media') === 'alt of broken'", "the text instead of a broken picture")
    high = "$('[data-id=long] .text').getBoundingClientRect().height"
    before = page.run(high)
    page.click(item("long", "button"), "Show all")
    proof.holds("the whole text", page.run(high) > 2 * before)
    # A letter that would turn the others is shown as its code.
    proof.same("the name", page.run("text('[data-id=long] .names').split('\\n')[0].trim()"), "U+202Edlrow")
    places = page.run("""[...$('[data-id=long] .id bdi').firstChild.data].map((_, i) => {
      const range = document.createRange();
      range.setStart($('[data-id=long] .id bdi').firstChild, i);
      range.setEnd($('[data-id=long] .id bdi').firstChild, i + 1);
      return range.getBoundingClientRect().left;
    })""")
    proof.same("the letters of the id go to the right", places, sorted(places))
    # Whatever drawing an item throws, only this item is missing.
    page.run("(window.parse = URL.canParse, URL.canParse = () => { throw new Error('odd') }, true)")
    page.go("user/odd", then="count('article') === 4")
    proof.same("the items that cannot be shown", sorted(page.run(
        "$$('article').filter((one) => one.innerText.includes('cannot be shown')).map((one) => one.dataset.id)")),
        ["no-host", "no-name"])
    page.run("URL.canParse = window.parse")
    page.shows("Writes from right to left")


@step(None, fill=None, settings={"server.avatar_origins": LISTED})
def avatars(proof: Proof, town: Town) -> None:
    """A user chooses the address of an avatar. No browser of a reader asks this server for it, nor a server that the
    settings do not name."""
    image = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3C/svg%3E"
    own = town.address
    for avatar in ("v1/topics/taken/content", "/v1/topics/taken/content", "data:text/html,taken"):
        proof.same(f"a profile with {avatar}", town.client.call("PUT", "/v1/users/short", {"avatar": avatar}).status, 400)
    refused = {"whole": own + "v1/topics/taken/content", "other": "https://127.0.0.2:9/taken.png", "plain": "http://127.0.0.1:9/taken.png"}
    for user, avatar in (refused | {"inline": image, "listed": LISTED + "/ann.png"}).items():
        town.follow("reader", user)
        town.told("PUT", f"/v1/users/{user}", {"avatar": avatar})
        town.publish(user, f"of-{user}")
    page = proof.page(own + "#/timeline/reader", "count('article') === 5")
    page.wait("$$('article img.avatar').every((one) => one.complete && one.naturalWidth)", "the pictures")
    proof.same("pictures", page.run("$$('article img.avatar').map((one) => one.getAttribute('src'))"), [image])
    proof.same("requests for avatars", {url for _, url in page.failed}, {LISTED + "/ann.png"})
    # The policy of the page forbids such a picture, whatever its code does.
    blocked = "new Promise((done) => { const one = new Image(); one.onload = one.onerror = (e) => done(e.type); one.src = args[0]; })"
    proof.same("another picture of this server", page.run(blocked, refused["whole"]), "error")
    counted = {name: count for name, count in town.client.figures().items() if "requests_total" in name and "/v1/topics/" in name}
    proof.same("calls of the API by avatars", sum(counted.values()), 0)
    page.close()


@step(fill=None, refused={404})
def typing_errors(proof: Proof, page: Page, town: Town) -> None:
    """An id, a page or an item that is not there is told as such."""
    page.shows("Tideline is a server of timelines")
    page.shows("No users yet")
    town.told("PUT", "/v1/users/1", {"nickname": "Robin"})
    page.open(town.address, then="texts('.people .names b').join() === 'Robin,Robin'")
    page.enter(" 1", "#look-up", shows="Nobody has this id")
    proof.same("the space is seen", page.run("$('.nobody .unseen').title"), "U+0020")
    proof.same("no composer, no timeline, nobody watched", page.run("has('.writer, .feed, .profile, .mode')"), False)
    proof.same("not looked up", page.run("sessionStorage['tideline.recent'] ?? '[]'"), "[]")
    page.click(".people a", then="location.hash === '#/timeline/1'")
    page.wait("text('h1') === 'Robin' && !has('.nobody')", "the user")
    # Only who acts may open it all the same.
    page.go("timeline/%201")
    page.click(".nobody button", "Act as this user")
    page.is_live()
    page.wait("$('.mode.acts') && $('.writer')", "acting for the new id")
    proof.same("the space is seen in the title", page.run("$('h1 .unseen').title"), "U+0020")
    until("online by the stream of the page", lambda: town.told("GET", "/v1/users/%201/presence")["online"])
    page.settled()
    proof.same("not online by this page", page.run("has('.tag.live')"), False)
    page.click(".mode [role=switch]", then="has('.nobody') && !has('.writer, .mode')")
    page.go("user/nobody/followers", shows="Nobody has this id")
    page.go("list/nobody/of", shows="Nobody has this id")
    page.enter(".", "#look-up", then="$('#look-up').validationMessage.includes('browsers')")
    # The last ones are names that every object of JavaScript has.
    for place, title in (
        ("timeline/.", "This id cannot be looked up"), ("nonsense", "No such page"), ("timeline/%E0%A4", "No such page"),
        ("__proto__", "No such page"), ("user/1", "Robin"), ("constructor/hi", "No such page"), ("user/1/constructor", "Robin"),
        ("toString", "No such page"), ("user/1/__proto__", "Robin"),
    ):
        page.go(place)
        page.wait("text('h1') === args[0]", place, title)
        if place.startswith("user/1/"):
            proof.same(f"the list of {place}", page.run("$('.tabs [aria-current]')?.firstChild.textContent"), "Items")
    page.go("item/none", shows="There is no such item")
    proof.same("nothing to try again", page.run("$$('main button').filter((one) => one.innerText.includes('again')).length"), 0)
    page.click("[data-switch=language]", shows="没有这条内容")


@step(None, fill=None)
def empty_lists(proof: Proof, town: Town) -> None:
    """The reason of an empty timeline, its first item, what a publish tells, and how to take an unfollow back."""
    for user in ("Ann", "Reader"):
        town.told("PUT", f"/v1/users/{user.lower()}", {"nickname": user})
    page = proof.page(town.address + "#/timeline/reader")
    page.shows("follows nobody yet")
    town.follow("reader", "ann")
    page.open(town.address + "#/timeline/reader", shows="Nobody whom this user follows has published")
    page.act()
    town.publish("ann", "first")
    page.wait("first() === 'first'", "the first item at once")
    town.publish("ann", "second")
    page.wait("text('.pill').trim() === '1 new'", "the second one waits")

    page.click(".writer textarea")
    page.write("Mine")
    page.click(".writer button", "Publish", shows="Your own items are on your page.")
    page.wait("!!$('.writer button:hover')?.disabled", "a disabled button under the pointer")
    page.run("Promise.all(document.getAnimations().map(({ finished }) => finished))")
    proof.holds("its text can be read", page.run(CONTRAST, ".writer button") >= 4.5)

    # A draft stays while the page is open.
    page.click(".writer textarea")
    page.write("Not yet")
    page.go("dashboard", then="has('.chart')")
    page.back()
    page.wait("$('.writer textarea')?.value === 'Not yet'", "the draft")

    page.go("user/reader/following", shows="followed")
    # Under the pointer, also if the row moves once more.
    meaning = lambda: (pointer(page, ".person button"), page.run("text('.person button').trim()"))[1]
    until("the meaning of a press", lambda: meaning() == "Unfollow")
    page.click(".person button", "Unfollow")
    until("unfollowed", lambda: town.relation("reader", "ann")["relation"] == "none")
    page.click(".message button", "Undo")
    until("followed again", lambda: town.relation("reader", "ann")["relation"] == "following")
    page.click(".profile button", "Edit profile", then="document.activeElement.name === 'nickname'")
    page.dismiss()
    beyond = "$$('.tabs a').filter((tab) => tab.getBoundingClientRect().right > $('.tabs').getBoundingClientRect().right + 1).length"
    proof.same("all lists are seen", page.run(beyond), 0)

    # Messages are above a window, and a page without a clipboard copies, too.
    page.run("(Object.defineProperty(navigator, 'clipboard', { value: undefined }), true)")
    page.go("user/ann")
    page.more("second", "Copy the id", then="text('dialog .message').includes('Copied')")
    page.press("Escape", then="!has('dialog') && text('.message').includes('Copied')")
    proof.clean(page)

    page = proof.page(town.address + "#/user/ann/hidden-from", "has('.tabs')", **PHONE)
    page.wait("$('.tabs [aria-current]').getBoundingClientRect().right <= innerWidth - 30", "the present list is seen")


@step(None, refused={502}, is_cut=True)
def away(proof: Proof, town: Town) -> None:
    """A page of a user comes back with the server; a tab in the background gives up its stream; a read whose connection
    is lost is sent again at once."""
    proxy = proof.proxy(town.tideline)
    page = proof.page(proxy.address + "#/timeline/ada")
    page.act()
    page.run(HIDDEN, True)
    page.wait("text('.live-state').includes('Paused')", "the pause of a hidden tab")
    town.publish("mei", "meanwhile")
    page.run(HIDDEN, False)
    page.wait("text('.pill').trim() === '1 new'", "what came meanwhile")
    for lost, user in ((proxy.refused, "cem"), (proxy.cut, "dot")):
        lost.add(f"/v1/users/{user}/content")
        page.go(f"user/{user}", then="has('main article, main .problem')")
        proof.same("a lost answer", (lost, page.run("has('main .problem')")), (set(), False))
    town.tideline.stop()
    page.go("user/mei", then="has('main .problem')")
    page.go("dashboard", then="count('.tiles dd') > 3")
    proof.same("figures that are not known", page.run("[...new Set(texts('.tiles dd'))]"), ["–"])
    page.go("user/bob", then="has('main .problem')")
    town.tideline.start()
    town.told("PUT", "/v1/users/bob/presence", {"online": True})
    page.wait("text('h1') === 'Bob Okafor' && count('article') === 2", "the page by itself")
    page.wait("has('.tag.live')", "the badge")
    proof.holds("no problem is left", not page.run("$('main .problem')"))
