import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** Changes through the client as it is by default: over plain HTTP it offers HTTP/2 with each request. */
class Offers {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    public static void main(String[] args) throws Exception {
        byte[] item = "{\"author_id\": 1}".getBytes();
        for (int n = 0; n < 50; n++) {
            change(args[0], "POST", "/v1/content", BodyPublishers.ofByteArray(item));
            change(args[0], "POST", "/v1/content", BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(item)));
            change(args[0], "PUT", "/v1/users/2/following/1", BodyPublishers.noBody());
        }
    }

    private static void change(String server, String method, String path, BodyPublisher body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server + path)).method(method, body).build();
        HttpResponse<String> answer = CLIENT.send(request, BodyHandlers.ofString());
        if (answer.statusCode() / 100 != 2 || answer.headers().firstValue("connection").isPresent()) {
            throw new AssertionError(method + " " + path + ": " + answer + " " + answer.headers() + answer.body());
        }
    }
}
