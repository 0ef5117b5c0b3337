import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.ChangesApi;
import org.openapitools.client.api.ContentApi;
import org.openapitools.client.api.ReactionsApi;
import org.openapitools.client.api.RelationsApi;
import org.openapitools.client.api.TimelinesApi;
import org.openapitools.client.api.UsersApi;
import org.openapitools.client.model.Audience;
import org.openapitools.client.model.ContentEdit;
import org.openapitools.client.model.MediaItem;
import org.openapitools.client.model.NewContent;
import org.openapitools.client.model.NewFollow;
import org.openapitools.client.model.NewSettings;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.RelationKind;
import org.springframework.web.client.RestClientResponseException;

/** The tour with a client of the generator `java`, library `restclient`. */
public final class Tour {
    public static void main(String[] args) {
        ApiClient client = new ApiClient();
        client.setBasePath(args[0]);
        String author = args[1] + " author/é";
        String reader = args[1] + " reader/é";
        String item = args[1] + " item";

        var users = new UsersApi(client);
        users.putSettings(author, new NewSettings().approveFollowers(true));
        same(true, users.getSettings(author, null, null).getApproveFollowers());

        var relations = new RelationsApi(client);
        var asked = relations.follow(reader, author, null);
        same(List.of(RelationKind.NONE, true), List.of(asked.getRelation(), asked.getRequested()));
        relations.approveFollower(author, reader);
        var following = relations.follow(reader, author, new NewFollow().only(Set.of("note")));
        same(List.of(RelationKind.FOLLOWING, List.of("note")), List.of(following.getRelation(), following.getOnly()));

        var content = new ContentApi(client);
        var draft = new NewContent()
            .authorId(author)
            .contentId(item)
            .kind("note")
            .text("Hello, tide")
            .topics(List.of("sea"))
            .media(List.of(new MediaItem().type("image").url("https://example.org/tide.jpg")))
            .extra(Map.of("mood", "calm"))
            .audience(Audience.FOLLOWERS);
        content.publishContent(draft);
        new ReactionsApi(client).react(item, "like", reader, null);
        var timeline = new TimelinesApi(client).getTimeline(reader, 1, null, null, null, null, null, null, null, null, null);
        var top = timeline.getItems().get(0);
        same(
            Arrays.asList("Hello, tide", Map.of("mood", "calm"), Map.of("like", 1L)),
            Arrays.asList(top.getText(), top.getExtra(), top.getCounts().getReactions()));

        var edited = content.editContent(item, new ContentEdit().text("Hello, sea"));
        same(List.of("Hello, sea", 1), List.of(edited.getText(), edited.getMedia().size()));

        try {
            relations.follow(reader, reader, null);
            throw new AssertionError("a user follows itself");
        } catch (RestClientResponseException refused) {
            var problem = refused.getResponseBodyAs(Problem.class);
            same(List.of(422, "self_follow"), List.of(refused.getStatusCode().value(), problem.getCode()));
        }
        same(5, new ChangesApi(client).listChanges(null, 5, null, null, null, null).getItems().size());
    }

    private static void same(Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            throw new AssertionError("expected " + expected + ", got " + got);
        }
    }
}
