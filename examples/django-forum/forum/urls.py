from django.urls import path

from . import views

app_name = "forum"
urlpatterns = [
    path("", views.categories, name="categories"),
    path("following/", views.following, name="following"),
    path("categories/<uuid:id>/", views.category, name="category"),
    path("categories/<uuid:id>/<slug:action>/", views.act_on_category, name="act_on_category"),
    path("categories/<uuid:id>/<slug:action>/<uuid:member>/", views.act_on_membership, name="act_on_membership"),
    path("threads/<uuid:id>/", views.thread, name="thread"),
    path("members/<uuid:id>/", views.member, name="member"),
    path("members/<uuid:id>/<slug:action>/", views.act_on_member, name="act_on_member"),
    path("posts/<uuid:id>/delete/", views.delete_post, name="delete_post"),
]
