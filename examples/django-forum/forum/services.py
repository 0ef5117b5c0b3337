"""The changes of the forum. Each writes its rows and its calls to Tideline in one transaction: both are there, or none.

The calls come after the rows. Two changes of one row wait for each other in the database, so their calls get ids in the
order of their commits, and the worker sends them in this order."""

from datetime import datetime, timedelta, timezone
from uuid import UUID, uuid4

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q

from .models import Block, Call, Category, Follow, Member, Membership, Post, Thread

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def milliseconds(time: datetime) -> int:
    return (time - EPOCH) // timedelta(milliseconds=1)


@transaction.atomic
def found_category(owner: Member, title: str, is_private: bool, id: UUID | None = None) -> Category:
    """With an `id`, a form that is sent twice founds one category. The owner is its first member."""
    values = {"title": title, "is_private": is_private, "owner": owner}
    category, created = Category.objects.get_or_create(id=id or uuid4(), defaults=values)
    if category.owner != owner:
        raise PermissionDenied("Another category has this id.")
    if created:
        row = Membership.objects.create(member=owner, category=category, approved=True)
        if is_private:
            # From now on each follow of the category is a request.
            call("set_settings", user=category.tideline_id, settings={"approve_followers": True})
        change("follow", owner, category, since=milliseconds(row.created_at), approved=True)
    return category


@transaction.atomic
def join(member: Member, category: Category) -> None:
    """Of a private category, this asks the owner."""
    values = {"approved": not category.is_private}
    row, created = Membership.objects.get_or_create(member=member, category=category, defaults=values)
    if created:
        change("follow", member, category, since=milliseconds(row.created_at))


@transaction.atomic
def leave(member: Member, category: Category) -> None:
    deleted, _ = Membership.objects.filter(member=member, category=category).delete()
    if deleted:
        change("unfollow", member, category)


@transaction.atomic
def approve(owner: Member, category: Category, member: Member) -> None:
    own(owner, category)
    if Membership.objects.filter(member=member, category=category, approved=False).update(approved=True):
        call("approve_follower", user=category.tideline_id, from_user=member.tideline_id)


@transaction.atomic
def remove(owner: Member, category: Category, member: Member) -> None:
    """Also rejects somebody who waits."""
    own(owner, category)
    leave(member, category)


def own(owner: Member, category: Category) -> None:
    if category.owner != owner:
        raise PermissionDenied("This category is not yours.")


@transaction.atomic
def begin_thread(author: Member, category: Category, title: str, id: UUID | None = None) -> Thread:
    """With an `id`, a form that is sent twice begins one thread."""
    if not category.is_open_to(author):
        raise PermissionDenied("You are no member of this category.")
    values = {"category": category, "title": title, "author": author}
    thread, _ = Thread.objects.get_or_create(id=id or uuid4(), defaults=values)
    if (thread.author, thread.category) != (author, category):
        raise PermissionDenied("Another thread has this id.")
    return thread


@transaction.atomic
def write_post(author: Member, thread: Thread, text: str, id: UUID | None = None) -> Post:
    """With an `id`, a form that is sent twice makes one post."""
    category = thread.category
    if not category.is_open_to(author) or Block.objects.between(author, thread.author).exists():
        raise PermissionDenied("You cannot write in this thread.")
    values = {"author": author, "thread": thread, "text": text}
    post, created = Post.objects.get_or_create(id=id or uuid4(), defaults=values)
    if not created:
        if (post.author, post.thread) != (author, thread):
            raise PermissionDenied("Another post has this id.")
        return post
    # The text stays here: Tideline needs the ids only.
    item = {"content_id": str(post.id), "author_id": author.tideline_id, "published_at": milliseconds(post.created_at)}
    item["to"] = [category.tideline_id]
    if category.is_private:  # not for the author's followers, and seen by the members only
        item |= {"broadcast": False, "audience": "followers"}
    call("publish", item=item)
    return post


@transaction.atomic
def delete_post(post: Post) -> None:
    id = str(post.id)
    deleted, _ = Post.objects.filter(id=post.id).delete()
    if deleted:
        call("delete", content_id=id)


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
def block(blocker: Member, member: Member) -> None:
    if blocker == member:
        raise PermissionDenied("You cannot block yourself.")
    _, created = Block.objects.get_or_create(blocker=blocker, blocked=member)
    if created:
        Follow.objects.filter(Q(follower=blocker, member=member) | Q(follower=member, member=blocker)).delete()
        change("block", blocker, member)  # ends the follows in Tideline, too


@transaction.atomic
def unblock(blocker: Member, member: Member) -> None:
    deleted, _ = Block.objects.filter(blocker=blocker, blocked=member).delete()
    if deleted:
        change("unblock", blocker, member)


def change(method: str, user: Member, target: Member | Category, **more: int) -> None:
    """Puts the call that changes a relation into the outbox."""
    call(method, user=user.tideline_id, target=target.tideline_id, **more)


def call(method: str, **arguments: object) -> None:
    Call.objects.create(method=method, arguments=arguments)
