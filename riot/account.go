package riot

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// errForeign says that a body is JSON but not what was asked for, such as an
// error inside a 200.
var errForeign = errors.New("not the body that was asked for")

// AccountByRiotID finds an account by its Riot ID on any region but "sea". A Riot
// ID that nobody has is a KindNotFound error: a result.
func (c Caller) AccountByRiotID(ctx context.Context, on Region, id RiotID) (Account, error) {
	return c.account(ctx, request{
		method:   MethodAccountByRiotID,
		route:    string(on),
		segments: []string{"riot", "account", "v1", "accounts", "by-riot-id", id.GameName, id.TagLine},
	})
}

// AccountByPUUID finds an account by its PUUID on any region but "sea". It is how
// a Riot ID that was changed is learnt. An account that was deleted is a
// KindNotFound error, a PUUID of another key a KindDecrypting one.
func (c Caller) AccountByPUUID(ctx context.Context, on Region, id PUUID) (Account, error) {
	return c.account(ctx, request{
		method:   MethodAccountByPUUID,
		route:    string(on),
		segments: []string{"riot", "account", "v1", "accounts", "by-puuid", string(id)},
	})
}

func (c Caller) account(ctx context.Context, r request) (Account, error) {
	if !Region(r.route).servesAccounts() {
		return Account{}, r.fail(KindRejected, errNoRoute)
	}
	var a Account
	err := c.get(ctx, r, func(body []byte) error {
		var raw struct {
			PUUID    string `json:"puuid"`
			GameName string `json:"gameName"`
			TagLine  string `json:"tagLine"`
		}
		if err := json.Unmarshal(body, &raw); err != nil {
			return err
		}
		if raw.PUUID == "" {
			return errForeign
		}
		a = Account{PUUID: PUUID(raw.PUUID), RiotID: riotIDOf(raw.GameName, raw.TagLine)}
		return nil
	})
	return a, err
}

// errNoRoute says that a question has no host.
var errNoRoute = errors.New("no such route")

// riotIDOf is a Riot ID where both parts are told, else none.
func riotIDOf(name, tag string) RiotID {
	name, tag = strings.TrimSpace(name), strings.TrimSpace(tag)
	if name == "" || tag == "" {
		return RiotID{}
	}
	return RiotID{GameName: name, TagLine: tag}
}

// ActivePlatform finds the platform on which an account plays League of Legends,
// on any region but "sea". An account that does not play it is a KindNotFound
// error, or KindUnavailable, since Riot answers 500 for some of them. A platform
// that this package has no routes for is KindRejected.
func (c Caller) ActivePlatform(ctx context.Context, on Region, id PUUID) (Platform, error) {
	r := request{
		method:   MethodActivePlatform,
		route:    string(on),
		segments: []string{"riot", "account", "v1", "region", "by-game", "lol", "by-puuid", string(id)},
	}
	if !on.servesAccounts() {
		return "", r.fail(KindRejected, errNoRoute)
	}
	var p Platform
	err := c.get(ctx, r, func(body []byte) error {
		var raw struct {
			Region string `json:"region"`
		}
		if err := json.Unmarshal(body, &raw); err != nil {
			return err
		}
		if raw.Region == "" {
			return errForeign
		}
		p = Platform(strings.ToLower(raw.Region))
		if into, ok := merged[p]; ok {
			p = into
		}
		if !p.Valid() {
			return &Error{Kind: KindRejected, Err: errors.New("a platform that is not known")}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return p, nil
}
