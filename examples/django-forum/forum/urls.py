from django.urls import path

from . import views

app_name = "forum"
urlpatterns = [
    path("", views.threads, name="threads"),
    path("following/", views.following, name="following"),
    path("threads/<uuid:id>/", views.thread, name="thread"),
    path("threads/<uuid:id>/<slug:action>/", views.act_on_thread, name="act_on_thread"),
    path("members/<uuid:id>/", views.member, name="member"),
    path("members/<uuid:id>/<slug:action>/", views.act_on_member, name="act_on_member"),
    path("posts/<uuid:id>/delete/", views.delete_post, name="delete_post"),
]
