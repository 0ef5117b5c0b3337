// The tour with a client of the generator `kotlin`.

import com.squareup.moshi.adapter
import org.openapitools.client.apis.ChangesApi
import org.openapitools.client.apis.ContentApi
import org.openapitools.client.apis.ReactionsApi
import org.openapitools.client.apis.RelationsApi
import org.openapitools.client.apis.TimelinesApi
import org.openapitools.client.apis.UsersApi
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.Audience
import org.openapitools.client.models.ContentEdit
import org.openapitools.client.models.MediaItem
import org.openapitools.client.models.NewContent
import org.openapitools.client.models.NewFollow
import org.openapitools.client.models.NewSettings
import org.openapitools.client.models.Problem
import org.openapitools.client.models.RelationKind

fun main(args: Array<String>) {
    val (url, name) = args
    val author = "$name author/é"
    val reader = "$name reader/é"
    val item = "$name item"

    val users = UsersApi(url)
    users.putSettings(author, NewSettings(approveFollowers = true))
    same(true, users.getSettings(author).approveFollowers)

    val relations = RelationsApi(url)
    val asked = relations.follow(reader, author)
    same(listOf(RelationKind.none, true), listOf(asked.relation, asked.requested))
    relations.approveFollower(author, reader)
    val following = relations.follow(reader, author, NewFollow(only = setOf("note")))
    same(listOf(RelationKind.following, listOf("note")), listOf(following.relation, following.only))

    val content = ContentApi(url)
    content.publishContent(
        NewContent(
            authorId = author,
            contentId = item,
            kind = "note",
            text = "Hello, tide",
            topics = listOf("sea"),
            media = listOf(MediaItem(type = "image", url = "https://example.org/tide.jpg")),
            extra = mapOf("mood" to "calm"),
            audience = Audience.followers,
        ),
    )
    ReactionsApi(url).react(item, "like", reader)
    val top = TimelinesApi(url).getTimeline(reader, limit = 1).items.single()
    same(listOf("Hello, tide", mapOf("mood" to "calm"), 1L), listOf(top.text, top.extra, top.counts?.reactions?.get("like")))

    val edited = content.editContent(item, ContentEdit(text = "Hello, sea"))
    same(listOf("Hello, sea", 1), listOf(edited.text, edited.media?.size))

    try {
        relations.follow(reader, reader)
        error("a user follows itself")
    } catch (refused: ClientException) {
        val body = (refused.response as ClientError<*>).body as String
        val problem = Serializer.moshi.adapter(Problem::class.java).fromJson(body)
        same(listOf(422, "self_follow"), listOf(refused.statusCode, problem?.code))
    }
    same(5, ChangesApi(url).listChanges(limit = 5).items.size)
}

fun same(expected: Any?, got: Any?) = check(expected == got) { "expected $expected, got $got" }
