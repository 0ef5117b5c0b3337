from django.core.management.base import BaseCommand
from django.db import transaction

from forum import services
from forum.models import Member

NAMES = ("ana", "ben", "cem", "dan", "eve")
TITLES = ("Where to see the spring tide", "Boats, ropes and knots", "Recipes with seaweed")


class Command(BaseCommand):
    help = "Writes a few members, categories, threads and posts. Each member's password is: tide"

    @transaction.atomic
    def handle(self, **options):
        members = [Member.objects.create_user(name, password="tide") for name in NAMES]
        ana, ben, cem, *_ = members
        shore = services.found_category(ben, "The shore", is_private=False)
        for turn, title in enumerate(TITLES):
            thread = services.begin_thread(members[turn], shore, title)
            for number in range(20):
                services.write_post(members[(turn + number) % len(members)], thread, f"Post {number + 1}: {title}")
        wardens = services.found_category(cem, "Harbour wardens", is_private=True)
        services.write_post(cem, services.begin_thread(cem, wardens, "Night watch"), "For wardens only")
        services.follow(ana, ben)
        services.follow(ana, cem)
        for member in (ana, ben):
            services.join(member, wardens)  # cem may approve them
        self.stdout.write(f"Sign in as one of {', '.join(NAMES)}, with the password: tide")
