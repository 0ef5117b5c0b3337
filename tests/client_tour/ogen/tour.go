// The tour with a client of ogen.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/go-faster/jx"
	"github.com/ogen-go/ogen/ogenerrors"
	"tour/api"
)

func main() {
	url, name := os.Args[1], os.Args[2]
	author, reader, item := name+" author/é", name+" reader/é", name+" item"
	context := context.Background()
	client, err := api.NewClient(url, credentials{})
	check(err)

	private := &api.NewSettings{ApproveFollowers: api.NewOptNilBool(true)}
	_, err = client.PutSettings(context, private, api.PutSettingsParams{UID: author})
	check(err)
	settings, err := client.GetSettings(context, api.GetSettingsParams{UID: author})
	check(err)
	same(true, settings.Response.ApproveFollowers)

	following := api.FollowParams{UID: reader, Target: author}
	asked, err := client.Follow(context, api.OptNewFollow{}, following)
	check(err)
	same(true, asked.Response.Requested)
	_, err = client.ApproveFollower(context, api.ApproveFollowerParams{UID: author, From: reader})
	check(err)
	rule := api.NewOptNewFollow(api.NewFollow{Only: api.NewOptNilStringArray([]string{"note"})})
	follow, err := client.Follow(context, rule, following)
	check(err)
	same(api.RelationKindFollowing, follow.Response.Relation)
	same([]string{"note"}, follow.Response.Only)

	_, err = client.PublishContent(context, &api.NewContent{
		AuthorID:  author,
		ContentID: api.NewOptNilString(item),
		Kind:      api.NewOptNilString("note"),
		Text:      api.NewOptNilString("Hello, tide"),
		Topics:    api.NewOptNilStringArray([]string{"sea"}),
		Media:     api.NewOptNilMedia(api.Media{{Type: "image", URL: "https://example.org/tide.jpg"}}),
		Extra:     api.NewOptNilExtra(api.Extra{"mood": jx.Raw(`"calm"`)}),
		Audience:  api.NewOptNilAudience(api.AudienceFollowers),
	})
	check(err)
	_, err = client.React(context, api.OptNewSince{}, api.ReactParams{ContentID: item, Kind: "like", UID: reader})
	check(err)
	answer, err := client.GetTimeline(context, api.GetTimelineParams{UID: reader, Limit: api.NewOptInt(1)})
	check(err)
	top := answer.(*api.GetTimelineOKHeaders).Response.Items[0]
	same("Hello, tide", top.Text.Value)
	same(`"calm"`, top.Extra.Value["mood"].String())
	same(int64(1), top.Counts.Value.Reactions["like"])

	edit := &api.ContentEdit{Text: api.NewOptNilString("Hello, sea")}
	edited, err := client.EditContent(context, edit, api.EditContentParams{ContentID: item})
	check(err)
	same("Hello, sea", edited.Response.Text.Value)
	same(1, len(edited.Response.Media))

	_, err = client.Follow(context, api.OptNewFollow{}, api.FollowParams{UID: reader, Target: reader})
	var problem *api.ProblemStatusCode
	same(true, errors.As(err, &problem))
	same(422, problem.StatusCode)
	same("self_follow", problem.Response.Code)

	changes, err := client.ListChanges(context, api.ListChangesParams{Limit: api.NewOptInt(5)})
	check(err)
	same(5, len(changes.Response.Items))

	stream, err := client.Listen(context, api.ListenParams{UID: reader})
	check(err)
	defer stream.Response.Close()
	_, err = client.PublishContent(context, &api.NewContent{
		AuthorID: author,
		Kind:     api.NewOptNilString("note"),
		Text:     api.NewOptNilString("told"),
	})
	check(err)
	event, err := stream.Response.Next(context)
	check(err)
	same("content", event.Type)
	same(`"told"`, event.Data["text"].String())
}

// One kind of credentials is enough for each call. This server asks for none.
type credentials struct{}

func (credentials) FullKey(context.Context, api.OperationName) (api.FullKey, error) {
	return api.FullKey{Token: "none"}, nil
}

func (credentials) ReadKey(context.Context, api.OperationName) (api.ReadKey, error) {
	return api.ReadKey{}, ogenerrors.ErrSkipClientSecurity
}

func (credentials) MetricsKey(context.Context, api.OperationName) (api.MetricsKey, error) {
	return api.MetricsKey{}, ogenerrors.ErrSkipClientSecurity
}

func (credentials) UserToken(context.Context, api.OperationName) (api.UserToken, error) {
	return api.UserToken{}, ogenerrors.ErrSkipClientSecurity
}

func (credentials) UserTokenInQuery(context.Context, api.OperationName) (api.UserTokenInQuery, error) {
	return api.UserTokenInQuery{}, ogenerrors.ErrSkipClientSecurity
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
