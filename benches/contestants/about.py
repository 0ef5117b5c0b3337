"""The contestants in words, for the page, and what each needs. The adapters themselves import packages that are elsewhere."""

from dataclasses import dataclass

CAP = 800  # entries of a feed in Redis: the figure of talks about Twitter's timelines (2013)
RECIPE = (
    f"A sorted set a user with times as scores. A publish does `ZADD` and `ZREMRANGEBYRANK` (cap {CAP}) for each follower in one"
    " pipeline, an unfollow takes the author's posts out of the set, and a read takes the posts out of hashes, without deleted"
    " ones and muted authors. "
)
REDIS = (
    "Redis is in most stacks already, every provider runs it, and its sets hold more than feeds: ranked feeds by any score, counters,"
    " queues. A feed of 800 ids is all in memory, and one command reads it."
)
STREAMS = (
    "A feed, a feed of the user and a manager as in its pages \"Feed setup\" and \"Querying feeds\": `add_user_activity`,"
    " `remove_user_activity`, `follow_user`, `unfollow_user`, and pages by `filter(activity_id__lt=…)[:20]`. Its tasks run"
    " eagerly, which it offers for development: with workers in the background, posts come later besides. It has no mutes: the"
    " application leaves muted authors out of a page."
)


@dataclass(frozen=True)
class About:
    """One contestant."""

    title: str
    adapter: tuple[str, str]  # module and class
    built: str  # how, and by which documentation
    keeps: str  # of a timeline
    why: str = ""  # its pages are wrong, or are not
    better: str = ""  # than Tideline
    needs: tuple[str, ...] = ()  # "redis-server", "postgresql"
    packages: str | None = None  # the environment of Python; `None` for the one that runs the comparison


ABOUT = {
    "tideline": About(
        "Tideline",
        ("tideline_server", "TidelineServer"),
        "The release binary over HTTP, with every setting at its default. Pages are read with `view=ids`; `next` of a page is"
        " `before` of the one below.",
        "the newest 1,000 entries of each inbox; older pages are read from the authors' lists",
        why="A wrong page of Tideline is a bug: please report it.",
    ),
    "redis-rank": About(
        "Redis by rank",
        ("redis_feed", "ByRank"),
        RECIPE + "A follow merges the author's newest posts up to the cap, and a page is `ZREVRANGE start start+19`: this is the recipe"
        " of *Redis in Action*, chapter 8, and of most tutorials.",
        f"the newest {CAP} ids of each feed",
        why="Scrolls end at the cap, which is a decision. Ranks move: a post that is published meanwhile pushes posts onto the next page"
        " again, an unfollow or a trim pulls posts over the place of the scroll. A cut leaves no mark: after an unfollow the set is"
        " short although there are older posts, and a follow merges older posts of one author below the cut, where all others are"
        " missing. A publish and an unfollow at once can leave a post in the set for good, because the two are no transaction.",
        better=REDIS,
        needs=("redis-server",),
        packages="feeds",
    ),
    "redis-score": About(
        "Redis by score",
        ("redis_feed", "ByScore"),
        RECIPE + f"A follow merges a quarter of the cap ({CAP // 4}), as Mastodon does, and a page is `ZREVRANGEBYSCORE` with"
        " `LIMIT 0 20` below `(` and the score of the last post.",
        f"the newest {CAP} ids of each feed",
        why="Scrolls end at the cap, which is a decision. `(score` leaves out all posts that have the time of the last one and did not fit"
        " on its page; a score that is unique, such as a Snowflake id, would not. A cut leaves no mark, as above, and a follow brings"
        " only the newest posts of its author. A publish and an unfollow at once can leave a post in the set for good.",
        better=REDIS,
        needs=("redis-server",),
        packages="feeds",
    ),
    "sql-inbox": About(
        "SQL inbox",
        ("sql_feed", "SqlInbox"),
        "PostgreSQL with a table `inbox (owner, item, created_at)`. A publish inserts a row for each follower (`INSERT … SELECT`),"
        " a follow inserts all of the author's items, an unfollow deletes them, a delete cascades: each in one transaction at the"
        " default isolation level. Mutes are a condition of the read; pages go on below the time and id of the last item.",
        "all entries of each inbox, without a cap",
        why="One after the other, its changes give right pages. At once, a publish does not see a follow that is not committed yet, and"
        " the back-fill of the follow does not see the post, so the post is missing for good; at once with an unfollow, it stays."
        " Most inboxes in SQL have a cap besides, which this one has not.",
        better="No second system: items, follows and feeds change in one transaction with the application's own tables, and a page can be"
        " joined with anything.",
        needs=("postgresql",),
        packages="feeds",
    ),
    "sql-locks": About(
        "SQL inbox with locks",
        ("sql_feed", "SqlLockedInbox"),
        "The same, but a publish, a follow and an unfollow first take a lock on the author (`pg_advisory_xact_lock`).",
        "all entries of each inbox, without a cap",
        why="The locks make the changes of one author come one after the other, so that followers and posts of a popular author wait for"
        " each other. Each entry is a row in a table and in three indexes, and an author with many followers writes them all before"
        " the answer.",
        better="As above.",
        needs=("postgresql",),
        packages="feeds",
    ),
    "sql-pull": About(
        "SQL pull",
        ("sql_feed", "SqlPull"),
        "PostgreSQL with tables of items, follows and mutes. A page is a join of the three, below the time and id of the last item,"
        " with indexes for it.",
        "nothing: a page is a join of follows and items",
        why="A page is a query over the tables themselves, so there is no copy to be wrong. Its price is the read, which grows with the"
        " followees and their items; [benchmarks](contribute/benchmarks.md) have it.",
        better="No second system, no copies, and any condition of SQL can be part of a page. For a small community it is the right choice.",
        needs=("postgresql",),
        packages="feeds",
    ),
    "stream-framework": About(
        "stream-framework-plus",
        ("stream_framework_feed", "StreamFramework"),
        STREAMS + " Both feeds have the default `max_length`, 100.",
        "100 entries of each feed, or somewhat more",
        why="Its default is about 100 entries: each write trims with a chance of 1 %, and each unfollow trims, then takes the author's"
        " entries out. So most scrolls end early. A cut leaves no mark, so a follow afterwards merges older posts of one author below"
        " it, and the scroll passes over all others there: these are nearly all of the holes. The rest is as in long feeds.",
        better="Aggregated feeds (\"ben and 3 others posted\") and notification feeds are built in; Cassandra can take the place of Redis.",
        needs=("redis-server",),
        packages="feeds",
    ),
    "stream-framework-long": About(
        "stream-framework-plus with long feeds",
        ("stream_framework_feed", "LongStreamFramework"),
        "As above, but both feeds have `max_length = 1_000_000`, so that no page is wrong because of the limit.",
        "all entries of each feed",
        why="`activity_id` is a number of 26 digits, and Redis keeps scores as doubles, with 16 of them. So posts of one millisecond have"
        " one score, and `activity_id__lt` leaves out those that did not fit on the page above. A publish at once with an unfollow can"
        " leave a post in the feed for good.",
        better="As above.",
        needs=("redis-server",),
        packages="feeds",
    ),
    "activity-stream": About(
        "django-activity-stream",
        ("activity_stream", "ActivityStream"),
        "`action.send(author, verb=…, action_object=post, timestamp=…)`, `follow(…, send_action=False)`, `unfollow` and"
        " `user_stream(user)`, on PostgreSQL. A delete of a post takes its actions along, because the model is registered. Its"
        " documentation has no pages, so they are those of Django's `Paginator`. It has no mutes: the application excludes"
        " muted authors in the query.",
        "nothing: a page is a query over follows and actions",
        why="Its newest page is always right, because it is a query. `Paginator` counts from the top: a post that is published meanwhile"
        " pushes another one onto the next page again, and a delete or an unfollow pulls posts over the place of the scroll. The order"
        " is by time alone, so posts of one time may change places between two pages, also when nothing happens. Pages below a time"
        " and an id, written by hand, make it as right as the SQL pull.",
        better="Actions have a verb, an object and a target, of any model, so that \"ben joined the group\" takes no further code. It is"
        " Django all the way, with the admin, templates and the REST framework.",
        needs=("postgresql",),
        packages="django",
    ),
}
