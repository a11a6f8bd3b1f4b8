package discord

import (
	"context"
	"net/http"
)

// Application asks for the id of the application that the token belongs to. It
// is tried like [Client.Edit].
func (c *Client) Application(ctx context.Context) (int64, error) {
	var answer struct {
		ID snowflake `json:"id"`
	}
	err := retry(ctx, func() error {
		return c.do(ctx, "read application", http.MethodGet, "/oauth2/applications/@me", nil, &answer)
	})
	return int64(answer.ID), err
}
