"""The changes of the forum. Each writes its rows and its calls to Tideline in one transaction: both are there, or none.

The calls come after the rows. Two changes of one row wait for each other in the database, so their calls get ids in the
order of their commits, and the worker sends them in this order."""

from datetime import datetime, timedelta, timezone
from uuid import UUID, uuid4

from django.core.exceptions import PermissionDenied
from django.db import transaction

from .models import Block, Call, Follow, Member, Post, Thread, ThreadFollow

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
IN_THREAD = "in-thread:"  # before the id of a post, in the item that the thread publishes


def milliseconds(time: datetime) -> int:
    return (time - EPOCH) // timedelta(milliseconds=1)


@transaction.atomic
def begin_thread(author: Member, title: str, id: UUID | None = None) -> Thread:
    """With an `id`, a form that is sent twice begins one thread."""
    thread, _ = Thread.objects.get_or_create(id=id or uuid4(), defaults={"title": title, "author": author})
    if thread.author != author:
        raise PermissionDenied("Another thread has this id.")
    return thread


@transaction.atomic
def write_post(author: Member, thread: Thread, text: str, id: UUID | None = None) -> Post:
    """With an `id`, a form that is sent twice makes one post."""
    if Block.objects.between(author, thread.author).exists():
        raise PermissionDenied("You cannot write in this thread.")
    values = {"author": author, "thread": thread, "text": text}
    post, created = Post.objects.get_or_create(id=id or uuid4(), defaults=values)
    if not created:
        if (post.author, post.thread) != (author, thread):
            raise PermissionDenied("Another post has this id.")
        return post
    # The text stays here: Tideline needs the ids only.
    time = milliseconds(post.created_at)
    items = [
        {"content_id": str(post.id), "author_id": author.tideline_id, "published_at": time},
        {"content_id": f"{IN_THREAD}{post.id}", "author_id": thread.tideline_id, "published_at": time},
    ]
    Call.objects.create(method="publish_batch", arguments={"items": items})
    return post


@transaction.atomic
def delete_post(post: Post) -> None:
    ids = (f"{post.id}", f"{IN_THREAD}{post.id}")
    deleted, _ = Post.objects.filter(id=post.id).delete()
    if deleted:
        Call.objects.bulk_create(Call(method="delete", arguments={"content_id": id}) for id in ids)


@transaction.atomic
def follow(follower: Member, member: Member) -> None:
    if follower == member or Block.objects.between(follower, member).exists():
        raise PermissionDenied("You cannot follow this member.")
    row, created = Follow.objects.get_or_create(follower=follower, member=member)
    if created:
        change("follow", follower, member, since=milliseconds(row.created_at))


@transaction.atomic
def unfollow(follower: Member, member: Member) -> None:
    deleted, _ = Follow.objects.filter(follower=follower, member=member).delete()
    if deleted:
        change("unfollow", follower, member)


@transaction.atomic
def follow_thread(follower: Member, thread: Thread) -> None:
    row, created = ThreadFollow.objects.get_or_create(follower=follower, thread=thread)
    if created:
        change("follow", follower, thread, since=milliseconds(row.created_at))


@transaction.atomic
def unfollow_thread(follower: Member, thread: Thread) -> None:
    deleted, _ = ThreadFollow.objects.filter(follower=follower, thread=thread).delete()
    if deleted:
        change("unfollow", follower, thread)


@transaction.atomic
def block(blocker: Member, member: Member) -> None:
    if blocker == member:
        raise PermissionDenied("You cannot block yourself.")
    _, created = Block.objects.get_or_create(blocker=blocker, blocked=member)
    unfollow(blocker, member)
    unfollow(member, blocker)
    if created:
        change("hide", blocker, member)
        change("mute", blocker, member)


@transaction.atomic
def unblock(blocker: Member, member: Member) -> None:
    deleted, _ = Block.objects.filter(blocker=blocker, blocked=member).delete()
    if deleted:
        change("unhide", blocker, member)
        change("unmute", blocker, member)


def change(method: str, user: Member, target: Member | Thread, **more: int) -> None:
    """Puts the call that changes a relation into the outbox."""
    Call.objects.create(method=method, arguments={"user": user.tideline_id, "target": target.tideline_id, **more})
