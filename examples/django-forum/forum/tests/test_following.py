"""The following page against a real Tideline. `expected` is the SQL query that the page must equal."""

import os
import random
import subprocess
import sys
import time
import uuid
from datetime import timedelta
from unittest import mock

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models import Q
from django.test import TransactionTestCase, override_settings
from django.urls import reverse
from django.utils import timezone

from forum import services
from forum.client import client
from forum.models import Call, Category, Follow, Member, Membership, Post, Thread
from forum.outbox import send_calls

from .server import KEY, Server


def expected(viewer: Member) -> list[uuid.UUID]:
    """The posts of followed members and joined categories that the viewer may see, newest first."""
    followed = Follow.objects.filter(follower=viewer).values("member")
    joined = Membership.objects.filter(member=viewer, approved=True).values("category")
    of_members = Q(author__in=followed, thread__category__is_private=False)
    posts = Post.objects.visible_to(viewer).filter(of_members | Q(thread__category__in=joined))
    return list(posts.order_by("-created_at").values_list("id", flat=True))


class Following(TransactionTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = Server()
        cls.addClassCleanup(cls.server.remove)
        cls.enterClassContext(override_settings(TIDELINE_URL=cls.server.url, TIDELINE_KEY=KEY))

    def setUp(self):
        # No two posts have the same millisecond: SQL and Tideline then have one order.
        self.now = (timezone.now() - timedelta(days=1)).replace(microsecond=0)
        self.step = timedelta(milliseconds=3, microseconds=7)
        self.enterContext(mock.patch.object(Post._meta.get_field("created_at"), "_get_default", self.tick))
        self.ana, self.ben, self.cem = (self.member(name) for name in ("ana", "ben", "cem"))
        self.shore = services.found_category(self.cem, "The shore", is_private=False)
        self.tides = services.begin_thread(self.cem, self.shore, "Tides")
        send_calls()

    def tick(self):
        self.now += self.step
        return self.now

    def member(self, name: str) -> Member:
        return Member.objects.create(username=name)

    def page(self, viewer: Member, query: dict | None = None):
        self.client.force_login(viewer)
        answer = self.client.get(reverse("forum:following"), query)
        self.assertEqual(answer.status_code, 200, answer.content)
        return answer.context

    def shown(self, viewer: Member) -> list[uuid.UUID]:
        """The posts of all pages, along the link to older posts."""
        posts, page = [], self.page(viewer)
        while True:
            posts += [post.id for post in page["posts"]]
            if page["next"] is None:
                return posts
            page = self.page(viewer, {"before": page["next"]})

    def test_pages_equal_the_query_after_many_changes(self):
        chance = random.Random(20260101)
        members = [self.ana, self.ben, self.cem] + [self.member(f"member-{n}") for n in range(5)]
        owners = [chance.choice(members) for _ in range(4)]
        made = [services.found_category(owner, f"{n}", is_private=n > 0) for n, owner in enumerate(owners)]
        threads = [self.tides] + [services.begin_thread(category.owner, category, "A thread") for category in made]
        categories = [self.shore, *made]

        def one_change():
            member, other, thread = chance.choice(members), chance.choice(members), chance.choice(threads)
            category = chance.choice(categories)
            kind = chance.choices(
                ["post", "delete", "follow", "unfollow", "join", "leave", "approve", "remove", "block", "unblock"],
                [40, 6, 14, 3, 10, 2, 12, 2, 2, 3],
            )[0]
            if kind == "post":
                services.write_post(member, thread, "A post")
            elif kind == "delete":
                services.delete_post(chance.choice(list(Post.objects.order_by("created_at")) or [Post()]))
            elif kind in ("join", "leave"):
                getattr(services, kind)(member, category)
            elif kind in ("approve", "remove"):
                getattr(services, kind)(category.owner, category, member)
            else:
                getattr(services, kind)(member, other)

        counts = [0, 0, 0]
        for _ in range(6):
            for _ in range(100):
                try:
                    one_change()
                except PermissionDenied:
                    counts[0] += 1
            send_calls()
            for member in members:
                posts = expected(member)
                self.assertEqual(self.shown(member), posts, member.username)
                counts[1] = max(counts[1], len(posts))
                counts[2] += Post.objects.filter(id__in=posts, thread__category__is_private=True).count()
        self.assertFalse(Call.objects.exists(), list(Call.objects.values()))
        self.assertGreater(counts[0], 0, "nothing was refused")
        self.assertGreater(counts[1], 60, "no member has many pages")
        self.assertGreater(counts[2], 60, "nobody sees private posts")

    def test_pages_up_are_the_pages_down(self):
        services.follow(self.ana, self.ben)
        for number in range(50):
            services.write_post(self.ben, self.tides, f"{number}")
        send_calls()
        first = self.page(self.ana)
        second = self.page(self.ana, {"before": first["next"]})
        third = self.page(self.ana, {"before": second["next"]})
        self.assertEqual([len(page["posts"]) for page in (first, second, third)], [20, 20, 10])
        self.assertIsNone(third["next"])
        self.assertEqual(self.page(self.ana, {"after": third["prev"]})["posts"], second["posts"])
        services.write_post(self.ben, self.tides, "newest")
        send_calls()
        self.assertEqual([post.text for post in self.page(self.ana, {"after": first["prev"]})["posts"]], ["newest"])
        self.assertContains(self.client.get(reverse("forum:following")), "?before=")

    def test_posts_of_the_same_millisecond_have_the_order_of_their_calls(self):
        self.step = timedelta(microseconds=10)
        services.follow(self.ana, self.ben)
        services.join(self.ana, self.shore)
        posts = [services.write_post(self.ben, self.tides, f"{number}").id for number in range(45)]
        self.assertEqual(
            len({services.milliseconds(time) for time in Post.objects.values_list("created_at", flat=True)}), 1
        )
        send_calls()
        self.assertEqual(self.shown(self.ana), posts[::-1])

    def test_a_post_of_a_followed_author_in_a_joined_category_is_shown_once(self):
        services.join(self.ana, self.shore)
        services.write_post(self.ben, self.tides, "once")
        send_calls()
        for change in (services.follow, services.unfollow, services.follow, services.unfollow):
            change(self.ana, self.ben)
            send_calls()
            self.assertEqual([post.text for post in self.page(self.ana)["posts"]], ["once"])

    def test_a_private_category_is_for_those_whom_its_owner_approves(self):
        wardens = services.found_category(self.cem, "Wardens", is_private=True)
        watch = services.begin_thread(self.cem, wardens, "Night watch")
        services.write_post(self.cem, watch, "for wardens")
        services.follow(self.ben, self.cem)
        services.join(self.ana, wardens)
        send_calls()
        asking = [entry["user_id"] for entry in client().follow_requests(wardens.tideline_id)]
        self.assertEqual(asking, [str(self.ana.id)])
        self.assertRaises(PermissionDenied, services.write_post, self.ana, watch, "too early")
        self.assertRaises(PermissionDenied, services.approve, self.ana, wardens, self.ana)
        self.assertEqual([self.shown(member) for member in (self.ana, self.ben)], [[], []])
        services.approve(self.cem, wardens, self.ana)
        services.write_post(self.ana, watch, "of ana")
        send_calls()
        self.assertEqual([post.text for post in self.page(self.ana)["posts"]], ["of ana", "for wardens"])
        self.assertEqual(self.shown(self.ben), [])
        # Tideline itself keeps the posts from others, wherever they ask.
        seen = [list(client().user_content(wardens.tideline_id, viewer=str(who.id))) for who in (self.ana, self.ben)]
        self.assertEqual([len(items) for items in seen], [2, 0])
        self.client.force_login(self.ben)
        self.assertEqual(self.client.get(reverse("forum:thread", args=[watch.id])).status_code, 403)
        self.assertNotContains(self.client.get(reverse("forum:category", args=[wardens.id])), "Night watch")
        self.assertNotContains(self.client.get(reverse("forum:member", args=[self.cem.id])), "for wardens")
        self.client.force_login(self.ana)
        self.assertContains(self.client.get(reverse("forum:thread", args=[watch.id])), "for wardens")
        services.remove(self.cem, wardens, self.ana)
        send_calls()
        self.assertEqual(self.shown(self.ana), [])

    def test_blocks_act_both_ways_also_in_categories_and_end(self):
        for one, other in ((self.ana, self.ben), (self.ben, self.ana)):
            services.follow(one, other)
            services.join(one, self.shore)
            services.write_post(one, self.tides, one.username)
        send_calls()
        self.assertEqual({post.text for post in self.page(self.ana)["posts"]}, {"ana", "ben"})
        services.block(self.ana, self.ben)
        send_calls()
        self.assertEqual([post.text for post in self.page(self.ana)["posts"]], ["ana"])
        self.assertEqual([post.text for post in self.page(self.ben)["posts"]], ["ben"])
        self.assertFalse(Follow.objects.exists())
        self.assertRaises(PermissionDenied, services.follow, self.ben, self.ana)
        # Tideline itself refuses a follow that slips through.
        services.change("follow", self.ben, self.ana)
        with self.assertLogs("forum.outbox", "ERROR"):
            send_calls()
        self.assertIn("blocked", Call.objects.get().refusal)
        services.unblock(self.ana, self.ben)
        send_calls()
        self.assertEqual({post.text for post in self.page(self.ben)["posts"]}, {"ana", "ben"})

    def test_a_change_that_is_rolled_back_is_in_no_timeline(self):
        services.follow(self.ana, self.ben)
        with self.assertRaises(ZeroDivisionError), transaction.atomic():
            services.write_post(self.ben, self.tides, "rolled back")
            services.follow(self.ana, self.cem)
            1 / 0
        services.write_post(self.ben, self.tides, "committed")
        services.write_post(self.cem, self.tides, "of cem")
        send_calls()
        self.assertEqual([post.text for post in self.page(self.ana)["posts"]], ["committed"])
        self.assertEqual(len(list(client().user_content(self.ben.tideline_id))), 1)

    def test_nothing_is_lost_while_tideline_is_down_and_the_worker_is_killed(self):
        environment = os.environ | {
            "FORUM_DATABASE": str(connection.settings_dict["NAME"]),
            "TIDELINE_URL": self.server.url,
            "TIDELINE_KEY": KEY,
        }

        def worker():
            command = [sys.executable, "manage.py", "send_to_tideline"]
            return subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment, stderr=subprocess.DEVNULL)

        def all_sent(seconds=60):
            until = time.monotonic() + seconds
            while Call.objects.exists():
                self.assertLess(time.monotonic(), until, "the worker does not send the calls")
                time.sleep(0.1)

        process = worker()
        try:
            services.follow(self.ana, self.ben)
            all_sent()
            self.server.kill()
            for number in range(30):
                services.write_post(self.ben, self.tides, f"{number}")
            services.delete_post(Post.objects.get(text="7"))
            self.client.force_login(self.ana)
            self.assertEqual(self.client.get(reverse("forum:following")).status_code, 503)
            time.sleep(1.5)  # attempts that fail
            self.assertEqual(Call.objects.count(), 31)
            process.kill()
            process.wait()
            self.server.start()
            for turn in range(6):
                process = worker()
                services.write_post(self.ben, self.tides, f"with worker {turn}")
                services.unfollow(self.ana, self.ben)
                services.follow(self.ana, self.ben)
                time.sleep(0.4 + 0.1 * turn)
                process.kill()  # perhaps in the middle of a call
                process.wait()
            process = worker()
            all_sent()
        finally:
            process.kill()
            process.wait()
        self.assertEqual(len(expected(self.ana)), 35)
        self.assertEqual(self.shown(self.ana), expected(self.ana))

    def test_a_call_that_is_refused_is_kept_and_holds_up_no_other(self):
        services.change("follow", self.ana, self.ana)
        services.follow(self.ana, self.ben)
        services.write_post(self.ben, self.tides, "after")
        with self.assertLogs("forum.outbox", "ERROR"):
            send_calls()
        self.assertIn("self_follow", Call.objects.get().refusal)
        self.assertEqual([post.text for post in self.page(self.ana)["posts"]], ["after"])

    def test_a_wrong_key_loses_nothing(self):
        services.follow(self.ana, self.ben)
        with override_settings(TIDELINE_KEY="a-wrong-key-of-more-than-32-characters"):
            self.assertRaises(CommandError, call_command, "send_to_tideline", once=True)
        self.assertEqual(Call.objects.filter(refusal="").count(), 1)
        call_command("send_to_tideline", once=True)
        self.assertFalse(Call.objects.exists())

    def test_a_wrong_address_loses_nothing(self):
        services.follow(self.ana, self.ben)
        services.write_post(self.ben, self.tides, "kept")
        with override_settings(TIDELINE_URL=f"{self.server.url}/wrong"):
            self.assertRaises(CommandError, call_command, "send_to_tideline", once=True)
            self.client.force_login(self.ana)
            with self.assertLogs("forum.views", "ERROR"):
                self.assertEqual(self.client.get(reverse("forum:following")).status_code, 503)
        self.assertEqual(Call.objects.filter(refusal="").count(), 2)
        call_command("send_to_tideline", once=True)
        self.assertEqual([post.text for post in self.page(self.ana)["posts"]], ["kept"])

    def test_a_second_worker_does_not_start(self):
        command = [sys.executable, "manage.py", "send_to_tideline"]
        environment = os.environ | {
            "FORUM_DATABASE": str(connection.settings_dict["NAME"]),
            "TIDELINE_URL": self.server.url,
            "TIDELINE_KEY": KEY,
        }
        first = subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment, stderr=subprocess.DEVNULL)
        try:
            services.follow(self.ana, self.ben)
            until = time.monotonic() + 60
            while Call.objects.exists():
                self.assertLess(time.monotonic(), until, "the worker does not send the calls")
                time.sleep(0.1)
            second = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, timeout=60)
            self.assertEqual((second.returncode, b"Another worker runs." in second.stderr), (1, True), second.stderr)
        finally:
            first.kill()
            first.wait()

    def test_a_form_that_is_sent_twice_makes_one_thing(self):
        self.client.force_login(self.ana)
        thread = reverse("forum:thread", args=[self.tides.id])
        form = {"text": "once", "id": self.client.get(thread).context["form_id"]}
        self.assertContains(self.client.get(thread), 'type="hidden" name="id"')
        for _ in range(2):
            self.assertRedirects(self.client.post(thread, form), thread)
        for path in (reverse("forum:categories"), reverse("forum:category", args=[self.shore.id])):
            title = {"title": "Boats", "id": self.client.get(path).context["form_id"]}
            boats = [self.client.post(path, title).url for _ in range(2)]
            self.assertEqual(boats[0], boats[1])
        made = [model.objects.count() for model in (Post, Thread, Category, Call)]
        self.assertEqual(made, [1, 2, 2, 2])
        self.assertEqual(self.client.post(thread, {"text": "no id"}).status_code, 400)
        self.client.force_login(self.ben)
        self.assertEqual(self.client.post(thread, form).status_code, 403)
        self.assertEqual(self.client.post(path, title).status_code, 403)

    def test_pages_and_buttons(self):
        self.assertRedirects(
            self.client.get(reverse("forum:following")), f"/accounts/login/?next={reverse('forum:following')}"
        )
        self.client.force_login(self.ana)
        self.assertEqual(self.client.get(reverse("forum:following"), {"before": "no cursor"}).status_code, 404)
        self.client.post(reverse("forum:categories"), {"title": "Harbour", "private": "on", "id": uuid.uuid4()})
        harbour = Category.objects.get(title="Harbour", is_private=True)
        path = reverse("forum:category", args=[harbour.id])
        self.client.post(path, {"title": "Boats", "id": uuid.uuid4()})
        boats = Thread.objects.get(title="Boats")
        self.client.post(reverse("forum:thread", args=[boats.id]), {"text": "A <b>boat</b>", "id": uuid.uuid4()})
        services.join(self.ben, harbour)
        self.assertContains(self.client.get(path), "Approve", 1)
        self.client.post(reverse("forum:act_on_membership", args=[harbour.id, "approve", self.ben.id]))
        self.assertTrue(harbour.is_open_to(self.ben))
        self.client.post(reverse("forum:act_on_membership", args=[harbour.id, "remove", self.ben.id]))
        self.assertFalse(harbour.memberships.filter(member=self.ben).exists())
        self.client.post(reverse("forum:act_on_category", args=[self.shore.id, "join"]))
        self.client.post(reverse("forum:act_on_category", args=[self.shore.id, "leave"]))
        self.client.post(reverse("forum:act_on_member", args=[self.ben.id, "follow"]))
        services.write_post(self.ben, self.tides, "of ben")
        send_calls()
        page = self.client.get(reverse("forum:following"))
        self.assertContains(page, "A &lt;b&gt;boat&lt;/b&gt;")
        self.assertEqual([post.text for post in page.context["posts"]], ["of ben", "A <b>boat</b>"])
        post = self.ben.posts.get()
        self.assertEqual(self.client.post(reverse("forum:delete_post", args=[post.id])).status_code, 403)
        self.assertEqual(self.client.get(reverse("forum:act_on_member", args=[self.ben.id, "block"])).status_code, 405)
        self.assertEqual(self.client.post(reverse("forum:act_on_member", args=[self.ben.id, "eat"])).status_code, 404)
        self.client.post(reverse("forum:act_on_member", args=[self.ben.id, "block"]))
        self.assertEqual(
            self.client.post(reverse("forum:act_on_member", args=[self.ben.id, "follow"])).status_code, 403
        )
        for view, target in (("forum:thread", self.tides), ("forum:member", self.ben), ("forum:category", harbour)):
            self.assertEqual(self.client.get(reverse(view, args=[target.id])).status_code, 200)

    def test_the_members_of_the_trial_have_a_page(self):
        for model in (Thread, Category, Member):
            model.objects.all().delete()
        call_command("seed_forum", verbosity=0, stdout=mock.Mock())
        send_calls()
        ana = Member.objects.get(username="ana")
        self.assertEqual(self.shown(ana), expected(ana))
        self.assertGreater(len(expected(ana)), 20)
