package main

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
)

// maxIcon is far above a champion's icon.
const maxIcon = 1 << 20

// dataURI reads a picture so that a page can hold it, "" where it can't be had.
func dataURI(ctx context.Context, url string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return ""
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	kind := res.Header.Get("Content-Type")
	body, err := io.ReadAll(io.LimitReader(res.Body, maxIcon))
	if err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "image/") {
		return ""
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(body)
}
