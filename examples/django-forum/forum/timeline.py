"""The following page: ids and cursors of Tideline, posts of the database."""

from .client import client
from .models import Block, Member, Post
from .services import IN_THREAD


def following_page(viewer: Member, before: str | None, after: str | None) -> dict:
    """`posts`, newest first, and the cursors `next` and `prev`, which may be `None`."""
    page = client().timeline(viewer.tideline_id, limit=20, view="ids", before=before, after=after).page()
    ids = [item["content_id"] for item in page.items]
    return {"posts": join(viewer, ids), "next": page.next, "prev": page.prev}


def join(viewer: Member, items: list[str]) -> list[Post]:
    """The posts that the items show, in their order. There may be fewer posts than items."""
    wanted = [(item.removeprefix(IN_THREAD), item.startswith(IN_THREAD)) for item in items]
    found = Post.objects.select_related("author", "thread").filter(id__in=[post for post, _ in wanted])
    posts = {str(post.id): post for post in found}
    # Mutes and hides act on the items of members, not on those of threads.
    pairs = Block.objects.of(viewer).values_list("blocker", "blocked")
    blocked = {member for pair in pairs for member in pair} - {viewer.id}
    # A post that was deleted a moment ago may still be in Tideline.
    shown = [(posts[id], in_thread) for id, in_thread in wanted if id in posts and posts[id].author_id not in blocked]

    # A post in a followed thread by a followed author has two items: the author's shows it. Tideline knows whether that
    # one is in the timeline already.
    authors = {post.author.tideline_id for post, in_thread in shown if in_thread}
    relations = client().relations(viewer.tideline_id, authors) if authors else []
    followed = {entry["target_id"] for entry in relations if entry["relation"] in ("following", "mutual")}
    return [post for post, in_thread in shown if not (in_thread and post.author.tideline_id in followed)]
