import logging
from uuid import UUID, uuid4

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST
from tideline import TidelineError

from . import services
from .client import is_final
from .models import Block, Category, Follow, Member, Post, Thread
from .timeline import following_page

logger = logging.getLogger(__name__)
ON_MEMBER = {
    "follow": services.follow,
    "unfollow": services.unfollow,
    "block": services.block,
    "unblock": services.unblock,
}
ON_CATEGORY = {"join": services.join, "leave": services.leave}
ON_MEMBERSHIP = {"approve": services.approve, "remove": services.remove}


@login_required
def following(request):
    try:
        page = following_page(request.user, request.GET.get("before"), request.GET.get("after"))
    except TidelineError as error:
        if is_final(error):  # a cursor that is none
            raise Http404("There is no such page.") from error
        logger.error("the following page cannot be shown: %s", error)
        return render(request, "forum/unavailable.html", status=503)
    return render(request, "forum/following.html", page)


@login_required
def categories(request):
    if request.method == "POST" and (title := request.POST.get("title", "").strip()):
        is_private = "private" in request.POST
        made = services.found_category(request.user, title[:200], is_private, form_id(request))
        return redirect("forum:category", made.id)
    categories = Category.objects.order_by("-created_at")[:100]
    return render(request, "forum/categories.html", {"categories": categories, "form_id": uuid4()})


@login_required
def category(request, id):
    category = get_object_or_404(Category, id=id)
    if request.method == "POST" and (title := request.POST.get("title", "").strip()):
        made = services.begin_thread(request.user, category, title[:200], form_id(request))
        return redirect("forum:thread", made.id)
    is_open = category.is_open_to(request.user)
    context = {
        "category": category,
        "is_open": is_open,
        "threads": category.threads.order_by("-created_at")[:100] if is_open else [],
        "membership": category.memberships.filter(member=request.user).first(),
        "memberships": category.memberships.select_related("member").order_by("approved", "-created_at")[:100],
        "form_id": uuid4(),
    }
    return render(request, "forum/category.html", context)


@login_required
def thread(request, id):
    thread = get_object_or_404(Thread.objects.select_related("category"), id=id)
    if not thread.category.is_open_to(request.user):
        raise PermissionDenied("You are no member of this category.")
    if request.method == "POST" and (text := request.POST.get("text", "").strip()):
        services.write_post(request.user, thread, text, form_id(request))
        return redirect("forum:thread", id)
    posts = thread.posts.visible_to(request.user).whole().order_by("-created_at")[:100]
    return render(request, "forum/thread.html", {"thread": thread, "posts": posts, "form_id": uuid4()})


@login_required
def member(request, id):
    member = get_object_or_404(Member, id=id)
    return render(
        request,
        "forum/member.html",
        {
            "member": member,
            "posts": member.posts.visible_to(request.user).whole().order_by("-created_at")[:100],
            "followed": Follow.objects.filter(follower=request.user, member=member).exists(),
            "blocked": Block.objects.filter(blocker=request.user, blocked=member).exists(),
        },
    )


@login_required
@require_POST
def act_on_member(request, id, action):
    return act(ON_MEMBER, action, request.user, get_object_or_404(Member, id=id), "forum:member")


@login_required
@require_POST
def act_on_category(request, id, action):
    return act(ON_CATEGORY, action, request.user, get_object_or_404(Category, id=id), "forum:category")


@login_required
@require_POST
def act_on_membership(request, id, action, member):
    category, member = get_object_or_404(Category, id=id), get_object_or_404(Member, id=member)
    return act(ON_MEMBERSHIP, action, request.user, category, "forum:category", member)


@login_required
@require_POST
def delete_post(request, id):
    post = get_object_or_404(Post, id=id)
    if request.user not in (post.author, post.thread.category.owner):
        raise PermissionDenied("Neither this post nor its category is yours.")
    services.delete_post(post)
    return redirect("forum:thread", post.thread_id)


def form_id(request):
    """The id of what a form makes. It is in the form, so that a double click makes one thing."""
    try:
        return UUID(request.POST.get("id", ""))
    except ValueError as error:
        raise BadRequest("The form has no id.") from error


def act(actions, action, user, target, view, *more):
    if action not in actions:
        raise Http404("There is no such action.")
    actions[action](user, target, *more)
    return redirect(view, target.id)
