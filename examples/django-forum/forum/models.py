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


class Category(models.Model):
    """A part of the forum. In Tideline, a source: its posts go to it, and members follow it.

    A private one approves its followers, and nobody else sees its posts."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=200)
    is_private = models.BooleanField(default=False)
    owner = models.ForeignKey(Member, models.PROTECT, related_name="categories")
    created_at = models.DateTimeField(default=timezone.now)

    @property
    def tideline_id(self) -> str:
        return f"category:{self.id}"

    def is_open_to(self, member: Member) -> bool:
        return not self.is_private or self.memberships.filter(member=member, approved=True).exists()


class Membership(models.Model):
    """A member follows a category, or waits for its owner to approve that."""

    member = models.ForeignKey(Member, models.CASCADE, related_name="memberships")
    category = models.ForeignKey(Category, models.CASCADE, related_name="memberships")
    approved = models.BooleanField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["member", "category"], name="join_once")]


class Thread(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    category = models.ForeignKey(Category, models.PROTECT, related_name="threads")
    title = models.CharField(max_length=200)
    author = models.ForeignKey(Member, models.PROTECT, related_name="threads")
    created_at = models.DateTimeField(default=timezone.now)


class Posts(models.QuerySet):
    def visible_to(self, member: Member) -> "Posts":
        """Without those of members with whom there is a block, and of private categories that the member has not joined."""
        joined = Membership.objects.filter(member=member, approved=True).values("category")
        return (
            self.filter(Q(thread__category__is_private=False) | Q(thread__category__in=joined))
            .exclude(author__in=Block.objects.filter(blocker=member).values("blocked"))
            .exclude(author__in=Block.objects.filter(blocked=member).values("blocker"))
        )

    def whole(self) -> "Posts":
        """With all that a page shows."""
        return self.select_related("author", "thread__category")


class Post(models.Model):
    """A post. In Tideline, the item with the same id."""

    objects = Posts.as_manager()
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


class Blocks(models.QuerySet):
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
