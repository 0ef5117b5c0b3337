"""The following page: ids and cursors of Tideline, posts of the database."""

from . import tideline
from .models import Block, Member, Post
from .services import IN_THREAD


def following_page(viewer: Member, cursors: dict[str, str]) -> dict:
    """`posts`, newest first, and the cursors `next` and `prev`, perhaps `None`. A page may have fewer posts than items."""
    user = f"/v1/users/{viewer.tideline_id}"
    page = tideline.call("GET", f"{user}/timeline", query={"limit": 20, "view": "ids", **cursors})
    items = [(item["content_id"].removeprefix(IN_THREAD), item["content_id"].startswith(IN_THREAD)) for item in page["items"]]
    posts = {str(post.id): post for post in Post.objects.select_related("author", "thread").filter(id__in=[id for id, _ in items])}
    # Left out: posts that were deleted a moment ago, and posts of blocked members in threads. Mutes and hides act on the
    # items of members only.
    blocked = {id for pair in Block.objects.of(viewer).values_list("blocker", "blocked") for id in pair} - {viewer.id}
    entries = [(posts[id], of_thread) for id, of_thread in items if id in posts and posts[id].author_id not in blocked]

    # If the viewer follows a post's author too, the author's item shows the post. Tideline knows whether that item is there.
    authors = ",".join({post.author.tideline_id for post, of_thread in entries if of_thread})
    relations = tideline.call("GET", f"{user}/relations", query={"targets": authors})["items"] if authors else []
    followed = {entry["target_id"] for entry in relations if entry["relation"] in ("following", "mutual")}
    shown = [post for post, of_thread in entries if not (of_thread and post.author.tideline_id in followed)]
    return {"posts": shown, "next": page["next"], "prev": page["prev"]}
