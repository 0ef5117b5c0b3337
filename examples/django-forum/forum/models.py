"""The tables of the forum, and the outbox of its calls to Tideline."""

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class Member(AbstractUser):
    """A user of the forum. In Tideline, the user with the same id."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    @property
    def tideline_id(self) -> str:
        return str(self.id)


class Thread(models.Model):
    """A thread. In Tideline, a user that publishes the posts of the thread, so that it can be followed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=200)
    author = models.ForeignKey(Member, models.PROTECT, related_name="threads")
    created_at = models.DateTimeField(default=timezone.now)

    @property
    def tideline_id(self) -> str:
        return f"thread:{self.id}"


class Post(models.Model):
    """A post. In Tideline, two items: one of its author, and one of its thread."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    thread = models.ForeignKey(Thread, models.PROTECT, related_name="posts")
    author = models.ForeignKey(Member, models.PROTECT, related_name="posts")
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, db_index=True)


class Follow(models.Model):
    """A member follows a member."""

    follower = models.ForeignKey(Member, models.CASCADE, related_name="follows")
    member = models.ForeignKey(Member, models.CASCADE, related_name="followed_by")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["follower", "member"], name="follow_once"),
            models.CheckConstraint(condition=~Q(follower=F("member")), name="follow_others"),
        ]


class ThreadFollow(models.Model):
    """A member follows a thread."""

    follower = models.ForeignKey(Member, models.CASCADE, related_name="thread_follows")
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="followed_by")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["follower", "thread"], name="follow_thread_once")]


class Blocks(models.QuerySet):
    def of(self, member: Member) -> "Blocks":
        """The blocks by a member, and those against the member."""
        return self.filter(Q(blocker=member) | Q(blocked=member))

    def between(self, one: Member, other: Member) -> "Blocks":
        return self.filter(Q(blocker=one, blocked=other) | Q(blocker=other, blocked=one))


class Block(models.Model):
    """A member blocks a member. Neither sees the posts of the other."""

    objects = Blocks.as_manager()
    blocker = models.ForeignKey(Member, models.CASCADE, related_name="blocks")
    blocked = models.ForeignKey(Member, models.CASCADE, related_name="blocked_by")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["blocker", "blocked"], name="block_once")]


class Call(models.Model):
    """A call to Tideline that is still to be sent. It is written in the transaction of the change that it tells of."""

    method = models.CharField(max_length=30, help_text="A method of the client")
    arguments = models.JSONField()
    refusal = models.TextField(blank=True, help_text="Why Tideline refused it; such a call is not sent again")

    class Meta:
        indexes = [models.Index(fields=["id"], condition=Q(refusal=""), name="calls_to_send")]
