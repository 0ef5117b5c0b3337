// The tour with a client of oapi-codegen.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
)

func main() {
	url, name := os.Args[1], os.Args[2]
	author, reader, item := name+" author/é", name+" reader/é", name+" item"
	context := context.Background()
	client, err := NewClientWithResponses(url)
	check(err)

	yes := true
	_, err = client.PutSettingsWithResponse(context, author, PutSettingsJSONRequestBody{ApproveFollowers: &yes})
	check(err)
	settings, err := client.GetSettingsWithResponse(context, author, nil)
	check(err)
	same(true, settings.JSON200.ApproveFollowers)

	asked, err := client.FollowWithBodyWithResponse(context, reader, author, "application/json", http.NoBody)
	check(err)
	same(true, asked.JSON200.Requested)
	_, err = client.ApproveFollowerWithResponse(context, author, reader)
	check(err)
	rule := FollowJSONRequestBody{Only: &[]string{"note"}}
	following, err := client.FollowWithResponse(context, reader, author, rule)
	check(err)
	same(Following, following.JSON200.Relation)
	same([]string{"note"}, *following.JSON200.Only)

	kind, text, audience := "note", "Hello, tide", AudienceFollowers
	draft := PublishContentJSONRequestBody{
		AuthorId:  author,
		ContentId: &item,
		Kind:      &kind,
		Text:      &text,
		Topics:    &[]string{"sea"},
		Media:     &Media{{Type: "image", Url: "https://example.org/tide.jpg"}},
		Extra:     &Extra{"mood": "calm"},
		Audience:  &audience,
	}
	_, err = client.PublishContentWithResponse(context, draft)
	check(err)
	_, err = client.ReactWithBodyWithResponse(context, item, "like", reader, "application/json", http.NoBody)
	check(err)
	limit := 1
	timeline, err := client.GetTimelineWithResponse(context, reader, &GetTimelineParams{Limit: &limit})
	check(err)
	top := timeline.JSON200.Items[0]
	same("Hello, tide", *top.Text)
	same("calm", (*top.Extra)["mood"])
	same(int64(1), top.Counts.Reactions["like"])

	changed := "Hello, sea"
	edited, err := client.EditContentWithResponse(context, item, ContentEdit{Text: &changed})
	check(err)
	same("Hello, sea", *edited.JSON200.Text)
	same(1, len(*edited.JSON200.Media))

	refused, err := client.FollowWithBodyWithResponse(context, reader, reader, "application/json", http.NoBody)
	check(err)
	same(422, refused.StatusCode())
	same("self_follow", refused.ApplicationproblemJSONDefault.Code)

	most := 5
	changes, err := client.ListChangesWithResponse(context, &ListChangesParams{Limit: &most})
	check(err)
	same(5, len(changes.JSON200.Items))

	// Not `ListenWithResponse`, which reads to the end of the answer.
	stream, err := client.Listen(context, reader, nil)
	check(err)
	defer stream.Body.Close()
	told := "told"
	_, err = client.PublishContentWithResponse(context, PublishContentJSONRequestBody{AuthorId: author, Kind: &kind, Text: &told})
	check(err)
	for lines := bufio.NewScanner(stream.Body); !strings.Contains(lines.Text(), `"told"`); {
		if !lines.Scan() {
			panic("the stream ended")
		}
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func same(expected, got any) {
	if !reflect.DeepEqual(expected, got) {
		panic(fmt.Sprintf("expected %v, got %v", expected, got))
	}
}
