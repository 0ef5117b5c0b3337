"""The following page: ids and cursors of Tideline, posts of the database."""

from .client import client
from .models import Member, Post


def following_page(viewer: Member, before: str | None, after: str | None) -> dict:
    """`posts`, newest first, and the cursors `next` and `prev`, which may be `None`."""
    page = client().timeline(viewer.tideline_id, limit=20, view="ids", before=before, after=after).page()
    ids = [item["content_id"] for item in page.items]
    posts = {str(post.id): post for post in Post.objects.whole().filter(id__in=ids)}
    # A post that was deleted a moment ago may still be in Tideline.
    return {"posts": [posts[id] for id in ids if id in posts], "next": page.next, "prev": page.prev}
