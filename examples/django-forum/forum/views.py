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
from .models import Block, Follow, Member, Post, Thread, ThreadFollow
from .timeline import following_page

logger = logging.getLogger(__name__)
ON_MEMBER = {
    "follow": services.follow,
    "unfollow": services.unfollow,
    "block": services.block,
    "unblock": services.unblock,
}
ON_THREAD = {"follow": services.follow_thread, "unfollow": services.unfollow_thread}


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
def threads(request):
    if request.method == "POST" and (title := request.POST.get("title", "").strip()):
        return redirect("forum:thread", services.begin_thread(request.user, title[:200], form_id(request)).id)
    threads = Thread.objects.order_by("-created_at")[:100]
    return render(request, "forum/threads.html", {"threads": threads, "form_id": uuid4()})


@login_required
def thread(request, id):
    thread = get_object_or_404(Thread, id=id)
    if request.method == "POST" and (text := request.POST.get("text", "").strip()):
        services.write_post(request.user, thread, text, form_id(request))
        return redirect("forum:thread", id)
    posts = thread.posts.select_related("author").order_by("-created_at")[:100]
    followed = ThreadFollow.objects.filter(follower=request.user, thread=thread).exists()
    context = {"thread": thread, "posts": posts, "followed": followed, "form_id": uuid4()}
    return render(request, "forum/thread.html", context)


@login_required
def member(request, id):
    member = get_object_or_404(Member, id=id)
    return render(
        request,
        "forum/member.html",
        {
            "member": member,
            "posts": member.posts.select_related("thread").order_by("-created_at")[:100],
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
def act_on_thread(request, id, action):
    return act(ON_THREAD, action, request.user, get_object_or_404(Thread, id=id), "forum:thread")


@login_required
@require_POST
def delete_post(request, id):
    post = get_object_or_404(Post, id=id)
    if post.author != request.user:
        raise PermissionDenied("This post is not yours.")
    services.delete_post(post)
    return redirect("forum:thread", post.thread_id)


def form_id(request):
    """The id of what a form makes. It is in the form, so that a double click makes one thing."""
    try:
        return UUID(request.POST.get("id", ""))
    except ValueError as error:
        raise BadRequest("The form has no id.") from error


def act(actions, action, user, target, view):
    if action not in actions:
        raise Http404("There is no such action.")
    actions[action](user, target)
    return redirect(view, target.id)
