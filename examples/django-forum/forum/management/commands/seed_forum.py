from django.core.management.base import BaseCommand
from django.db import transaction

from forum import services
from forum.models import Member, Thread

NAMES = ("ana", "ben", "cem", "dan", "eve")
TITLES = ("Where to see the spring tide", "Boats, ropes and knots", "Recipes with seaweed")


class Command(BaseCommand):
    help = "Writes a few members, threads and posts. Each member's password is: tide"

    @transaction.atomic
    def handle(self, **options):
        members = [Member.objects.create_user(name, password="tide") for name in NAMES]
        for turn, title in enumerate(TITLES):
            thread = Thread.objects.create(title=title, author=members[turn])
            for number in range(20):
                services.write_post(members[(turn + number) % len(members)], thread, f"Post {number + 1}: {title}")
        ana, ben, cem, *_ = members
        services.follow(ana, ben)
        services.follow(ana, cem)
        services.follow_thread(ana, thread)
        self.stdout.write(f"Sign in as one of {', '.join(NAMES)}, with the password: tide")
