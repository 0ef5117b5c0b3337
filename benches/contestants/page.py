"""Writes the page of the comparison."""

from typing import Any

from .about import ABOUT
from .contestant import LIMIT
from .judge import DUPLICATE, EARLY_END, HOLE, ORDER, STRANGER
from .trace import MOMENTS, Size

Results = dict[str, dict[str, Any] | str]  # by contestant: what was measured, or why it is left out

HEAD = """# How often is a feed wrong?

Comparisons of feeds are about speed. This one is about being right. One trace of follows, unfollows, mutes,
publishes, deletes, a kill and reads goes through Tideline and through other ways to serve the page "posts of those whom I
follow". Each page that is read is compared with the *plain function*: all live posts of those whom the user follows and has
not muted at this moment, newest first, each once. [Benchmarks](contribute/benchmarks.md) compare speed.

"""
KINDS = f"""
| column | counts |
|---|---|
| wrong | pages with at least one fault |
| end only | of these, pages whose one fault is an early end: mostly the cap of a feed |
| holes | posts that are missing between others, or at the top |
| again | posts that the same scroll has shown before |
| early ends | scrolls and polls that end although there are older posts |
| strangers' | posts of somebody not followed, or muted, and deleted posts |
| order | posts below older ones |
| late | missing posts, counted before, that the same user was shown later |

A page has {LIMIT} posts. The judge is mild: posts of one time may stand in any order; a page may be short as long as it says that it
goes on; a post that is published above the place of a scroll is not due below it. An early end counts once, however much is
below it. Before each run the judge gets pages with each fault, and must count just these.
"""
FAIR = """
## Fair to each

- Each change is acknowledged before the next step; nothing is read while a change is under way. Where a library has
  tasks in the background, they run before the answer.
- The kill comes between two steps. A kill in the middle of a fan-out, which is no transaction in Redis, is not in the trace.
- With `appendfsync everysec`, a kill may take the last second or two of what Redis has acknowledged, as its documentation says.
  The trace plays hours in seconds, so that would weigh too much: the kill of Redis waits until its file is written.
- Mutes are those of the application where a system has none, and so are never a fault of the system.
- Two changes at once begin in one instant on two connections. In an application that happens by chance, and so less often. The
  counts of these pages differ from run to run, all others hardly.
- A cap of a feed is a decision, and mostly a documented one: see the column `end only`.
- The times are those of one client that waits for each answer, and include the client's own work: no benchmark. Contestants
  play one after the other, so other work of the machine lengthens the times of some: compare orders of magnitude. Tideline and
  PostgreSQL have each change on the device before the answer, Redis within a second. Disk includes the write-ahead log of
  Tideline, but not that of PostgreSQL.
- Tideline's own team has written the trace, the judge and the adapters. All are in `benches/contestants`, and corrections are
  welcome.
"""


def row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |\n"


def number(count: float) -> str:
    return f"{count:,.0f}"


def share(part: int, whole: int) -> str:
    """Per cent, with as many digits as it takes to tell it from 0.

    >>> share(0, 5), share(1, 2), share(1, 3000)
    ('0', '50 %', '0.03 %')
    """
    if not part:
        return "0"
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1f} %" if percent >= 0.1 else f"{percent:.2f} %"


def figures(results: Results) -> str:
    """The table of all faults, and that of the moments of reads."""
    played = [(ABOUT[key], result) for key, result in results.items() if isinstance(result, dict)]
    right = [contestant.title for contestant, result in played if not result["wrong"]]
    text = f"Right on every page: {', '.join(right) or 'none'}.\n\n"
    text += row("", "pages", "wrong", "end only", "holes", "again", "early ends", "strangers'", "order", "late")
    text += "|---|" + "---:|" * 9 + "\n"
    for contestant, result in played:
        faults = [number(result["faults"].get(kind, 0)) for kind in (HOLE, DUPLICATE, EARLY_END, STRANGER, ORDER)]
        wrong = f"**{number(result['wrong'])}** ({share(result['wrong'], result['pages'])})"
        text += row(contestant.title, number(result["pages"]), wrong, number(result["only_early_ends"]), *faults, number(result["late"]))
    text += KINDS + "\nWrong pages by the moment of the read:\n\n"
    text += row("wrong of read", *MOMENTS) + "|---|" + "---:|" * len(MOMENTS) + "\n"
    for contestant, result in played:
        cells = (f"{number(wrong)} of {number(read)}" for read, wrong in (result["moments"][moment] for moment in MOMENTS))
        text += row(contestant.title, *cells)
    text += "\nPages of scrolls are fewer where scrolls end early.\n\n"
    text += row("", "holds at the end", "stored", "changes, s", "reads, s", "ms a page")
    text += "|---|---|---:|---:|---:|---:|\n"
    for contestant, result in played:
        each = 1000 * result["reads"] / max(1, result["pages"])
        seconds = (f"{result[what]:.1f}" for what in ("changes", "reads"))
        text += row(contestant.title, contestant.keeps, result["stored"], *seconds, f"{each:.2f}")
    return text


def described(results: Results) -> str:
    """How each is built, why its pages are wrong, and its merits."""
    text = "\n## The contestants\n"
    for key, result in results.items():
        contestant = ABOUT[key]
        text += f"\n### {contestant.title}\n\n{contestant.built}\n"
        if isinstance(result, str):
            text += f"\nLeft out of this run: {result}.\n"
            continue
        if result["wrong"]:
            text += f"\n**Why it is wrong.** {contestant.why}\n"
        elif key != "tideline":
            text += "\n**Not wrong on any page.** " + (contestant.why + "\n" if contestant.why else "\n")
        if contestant.better:
            text += f"\n**Better than Tideline.** {contestant.better}\n"
    text += (
        "\n### Not here\n\nBluesky's `@atproto/bsky` needs Node 22 beside PostgreSQL. The machine of this run has no such"
        " Node, and an adapter that nobody has run would say nothing.\n"
    )
    return text


def trace(result: dict[str, Any], size: Size, seed: int) -> str:
    """What the trace has."""
    steps = result["steps"]
    counts = {"publish": "publishes", "delete": "deletes", "follow": "follows", "unfollow": "unfollows", "mute": "mutes",
              "unmute": "unmutes", "both": "pairs of changes at once", "poll": "polls", "scroll": "scrolls"}
    told = ", ".join(f"{number(steps.get(name, 0))} {word}" for name, word in counts.items())
    least, median, most = map(number, result["timelines"])
    return (
        f"\n## The trace\n\nMade from the seed {seed}, it has {size.users} users, all of whom may publish: {told}, and one `kill -9` of"
        f" the server and new connections. At the end there are {number(result['items'])} live posts and"
        f" {number(result['follows'])} follows; timelines have {least} to {most} posts, the median {median}. Few authors have"
        " most followers; one is followed by nearly all.\n\n"
        f"- {number(size.history)} posts are there before the first follow, so follows must bring old ones; some follows come back after an"
        " unfollow.\n"
        "- 15 % of the later posts have the time of another one, and 15 % an earlier time: minutes ago, as of a phone without a network,"
        " or weeks ago, as an import has it.\n"
        "- Most who change their relations look at their page right after it.\n"
        f"- Scrolls go on page by page while others publish: {(steps['publish'] - size.history) / max(1, steps['pages']):.1f} posts of all"
        " authors between two pages, and other changes. One user in ten reads nothing until the end, and then to the end; so do a"
        " sixth of the others.\n"
        "- The kill comes right after the answer to a post of the author with the most followers. 30 users look at their page then.\n"
    )


def written(results: Results, size: Size, seed: int, about: str) -> str:
    """The whole page."""
    played = [result for result in results.values() if isinstance(result, dict)]
    versions: dict[str, str] = {}
    for result in played:
        versions |= result["versions"]
    listed = "".join(row(name, version) for name, version in versions.items())
    return (
        HEAD + about + "\n\n## Figures\n\n" + figures(results) + FAIR + described(results) + trace(played[0], size, seed)
        + "\n## Versions and settings\n\n| | |\n|---|---|\n" + listed
        + "\nRedis runs with `appendonly yes`, `appendfsync everysec` and no snapshots: with the defaults of Redis, which are snapshots"
        " alone, a kill may take minutes of changes. PostgreSQL and Tideline run with their defaults.\n"
        "\n## Repeat\n\n`make compare` installs what is missing on a Debian machine (the packages of Python beside the build), plays the"
        " trace, and writes this page. `make compare QUICK=1` takes a small trace, and `make compare ARGS='--seed 7 --only"
        " redis-rank'` another one for one contestant; then the page goes to stdout. With `--examples` it prints some faults of"
        " each kind, with the user, the page and the post.\n"
    )
