// Package ddragon reads champions' names and icons from Data Dragon, Riot's
// static files. They need no key and are under no limit that counts.
package ddragon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultURL is where Data Dragon is.
const DefaultURL = "https://ddragon.leagueoflegends.com"

// DefaultTimeout is how long one file may take.
const DefaultTimeout = 10 * time.Second

// maxBodyBytes is far above both files: the champions of one language are about
// 150 KB.
const maxBodyBytes = 8 << 20

// Options are the settings of a Client; the zero value will do.
type Options struct {
	// URL is Data Dragon's address. Empty: DefaultURL.
	URL string
	// Transport sends the requests. nil: http.DefaultTransport.
	Transport http.RoundTripper
	// Timeout is how long one file may take. 0: DefaultTimeout.
	Timeout time.Duration
}

// Champion is a champion of League of Legends.
type Champion struct {
	// ID is Riot's number, the ChampionID of a match.
	ID int
	// Key is the name in file names, such as "MonkeyKing".
	Key string
	// Name is what people call it, in the language that was asked for.
	Name string
}

// Client reads Data Dragon. It is safe for concurrent use and starts no
// goroutine.
type Client struct {
	url  string
	http *http.Client
}

// New checks o and returns a client.
func New(o Options) (*Client, error) {
	c := &Client{
		url:  strings.TrimRight(strings.TrimSpace(o.URL), "/"),
		http: &http.Client{Transport: o.Transport, Timeout: o.Timeout},
	}
	if c.url == "" {
		c.url = DefaultURL
	}
	u, err := url.Parse(c.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errors.New("ddragon: the URL must be an address like " + DefaultURL)
	}
	if c.http.Timeout <= 0 {
		c.http.Timeout = DefaultTimeout
	}
	return c, nil
}

// locales are Data Dragon's names of the languages that RiftChime speaks.
var locales = map[string]string{
	"en": "en_US",
	"ko": "ko_KR",
}

// Champions asks for the newest version of Data Dragon, then for its champions
// with their names in lang, "ko" or "en", ordered by their numbers. There is at
// least one. Nothing is kept: it is two requests each time.
func (c *Client) Champions(ctx context.Context, lang string) (version string, champions []Champion, err error) {
	locale, ok := locales[lang]
	if !ok {
		return "", nil, fmt.Errorf("ddragon: no language %q; there are en and ko", lang)
	}
	var versions []string
	if err := c.read(ctx, "versions", &versions, "api", "versions.json"); err != nil {
		return "", nil, err
	}
	if len(versions) == 0 || !plain(versions[0]) {
		return "", nil, errors.New("ddragon: versions: there is none that can be read")
	}
	version = versions[0]

	var file struct {
		Data map[string]struct {
			ID   string `json:"id"`
			Key  string `json:"key"`
			Name string `json:"name"`
		} `json:"data"`
	}
	if err := c.read(ctx, "champions", &file, "cdn", version, "data", locale, "champion.json"); err != nil {
		return "", nil, err
	}
	for _, d := range file.Data {
		// What is called id in the file is the key here, and the other way
		// round: "key" is the number.
		id, err := strconv.Atoi(d.Key)
		if err != nil || id <= 0 || d.ID == "" || d.Name == "" {
			continue
		}
		champions = append(champions, Champion{ID: id, Key: d.ID, Name: d.Name})
	}
	if len(champions) == 0 {
		return "", nil, errors.New("ddragon: champions: there is none in the file")
	}
	slices.SortFunc(champions, func(a, b Champion) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Key, b.Key))
	})
	return version, champions, nil
}

// IconURL is the address of the square icon of the champion with that Key in a
// version of Data Dragon, 120 by 120 pixels.
func (c *Client) IconURL(version, key string) string {
	return c.at("cdn", version, "img", "champion", key+".png")
}

func (c *Client) at(segments ...string) string {
	var b strings.Builder
	b.WriteString(c.url)
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// plain reports whether version can be part of a path without changing it.
func plain(version string) bool {
	if version == "" || len(version) > 64 || strings.Trim(version, ".") == "" {
		return false
	}
	for _, r := range version {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '.', r == '_', r == '-':
		default:
			return false
		}
	}
	return true
}

// read gets one JSON file. what names it in errors.
func (c *Client) read(ctx context.Context, what string, into any, segments ...string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at(segments...), nil)
	if err != nil {
		return fmt.Errorf("ddragon: %s: the address can't be used", what)
	}
	req.Header.Set("User-Agent", "RiftChime")
	req.Header.Set("Accept", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		var with *url.Error
		if errors.As(err, &with) {
			err = with.Err // without the address
		}
		return fmt.Errorf("ddragon: %s: %w", what, err)
	}
	defer res.Body.Close()
	var body bytes.Buffer
	n, err := body.ReadFrom(io.LimitReader(res.Body, maxBodyBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("ddragon: %s: reading: %w", what, err)
	case n > maxBodyBytes:
		return fmt.Errorf("ddragon: %s: more than %d bytes", what, maxBodyBytes)
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("ddragon: %s: status %d", what, res.StatusCode)
	}
	if err := json.Unmarshal(body.Bytes(), into); err != nil {
		return fmt.Errorf("ddragon: %s: %w", what, err)
	}
	return nil
}
