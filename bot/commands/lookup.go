package commands

import (
	"context"
	"errors"
	"net/http"

	"riftchime/riot"
	"riftchime/store"
)

// verdict is what became of one Riot ID in /register.
type verdict uint8

const (
	verdictFound   verdict = iota + 1
	verdictAlready         // the channel follows the account
	verdictUnknown         // Riot knows no such Riot ID
	verdictNoGame          // the account has not played on the region given
	verdictRegion          // Riot does not say where the account plays
	verdictDown            // no usable answer
	verdictSlow            // not in the time a person waits
	verdictKey             // Riot refuses the key
)

// finding is a Riot ID looked up.
type finding struct {
	typed   riot.RiotID
	verdict verdict
	player  store.NewPlayer
	// there is the player where the channel follows the account already.
	there store.Player
	// elsewhere: the player is not on the region given, but on player.Platform.
	elsewhere bool
	baseline  []string
	err       error // why, for the log; nil where found
}

// lookup asks Riot about one Riot ID.
type lookup struct {
	riot  Caller
	key   riot.Fingerprint
	asked riot.Platform // as given; "" to find out
	// regions to ask for accounts, the nearest first.
	regions []riot.Region
	// followed finds an account among those that the channel follows already;
	// then there is nothing more to ask.
	followed func(ctx context.Context, id riot.RiotID, puuid riot.PUUID) (store.Player, bool)
}

// find never fails: what went wrong is in the finding.
func (l *lookup) find(ctx context.Context, id riot.RiotID) finding {
	f := finding{typed: id}
	account, err := nearest(ctx, l.regions, func(r riot.Region) (riot.Account, error) {
		return l.riot.AccountByRiotID(ctx, r, id)
	})
	if err != nil {
		f.verdict, f.err = verdictOf(err, verdictUnknown), err
		return f
	}
	if account.RiotID.GameName == "" || account.RiotID.TagLine == "" {
		account.RiotID = id
	}
	f.player = store.NewPlayer{
		GameName: account.RiotID.GameName, TagLine: account.RiotID.TagLine,
		Key: string(l.key), PUUID: string(account.PUUID),
	}
	if p, ok := l.followed(ctx, account.RiotID, account.PUUID); ok {
		f.verdict, f.there = verdictAlready, p
		return f
	}
	platform, verdict, err := l.platform(ctx, account.PUUID)
	if err != nil {
		f.verdict, f.err = verdict, err
		return f
	}
	f.verdict = verdictFound
	f.elsewhere = l.asked != "" && platform != l.asked
	f.player.Platform = string(platform)
	// The newest games are never to be reported, whenever Riot says they ended.
	// Without them the time of the registration decides alone.
	ids, _ := l.riot.MatchIDs(ctx, platform, account.PUUID, riot.MatchIDsQuery{Count: 20})
	for _, id := range ids {
		f.baseline = append(f.baseline, string(id))
	}
	return f
}

// platform finds where the account plays. A region given counts where the
// account has a profile on it; else the one that Riot names does.
func (l *lookup) platform(ctx context.Context, puuid riot.PUUID) (riot.Platform, verdict, error) {
	home, err := nearest(ctx, l.regions, func(r riot.Region) (riot.Platform, error) {
		return l.riot.ActivePlatform(ctx, r, puuid)
	})
	if err == nil && !home.Valid() {
		err = &riot.Error{Kind: riot.KindNotFound, Method: "region", Route: string(l.regions[0])}
	}
	switch {
	case l.asked == "" && err != nil:
		return "", verdictOf(err, verdictRegion), err
	case l.asked == "" || home == l.asked && err == nil:
		return home, verdictFound, nil
	}
	_, profile := l.riot.Summoner(ctx, l.asked, puuid)
	switch {
	case profile == nil:
		return l.asked, verdictFound, nil
	case !riot.IsKind(profile, riot.KindNotFound):
		return "", verdictOf(profile, verdictDown), profile
	case err != nil:
		return "", verdictOf(err, verdictNoGame), err
	}
	return home, verdictFound, nil
}

// verdictOf reads an error of Riot's; missing is what "not found" means. The
// region endpoint answers 500 for accounts that never played (DR#1087), so
// there that is "not found" too.
func verdictOf(err error, missing verdict) verdict {
	var e *riot.Error
	if !errors.As(err, &e) {
		return verdictSlow
	}
	switch e.Kind {
	case riot.KindNotFound, riot.KindRejected:
		return missing
	case riot.KindBadKey, riot.KindForbidden, riot.KindDecrypting:
		return verdictKey
	case riot.KindLimited:
		return verdictSlow
	case riot.KindUnavailable:
		if missing != verdictUnknown && e.Status == http.StatusInternalServerError {
			return missing
		}
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return verdictSlow
		}
	}
	return verdictDown
}

// nearest asks one region after another, as any of them serves any account,
// but only on where one has no usable answer, and no more than two.
func nearest[T any](ctx context.Context, regions []riot.Region, ask func(riot.Region) (T, error)) (T, error) {
	answer, err := ask(regions[0])
	if len(regions) == 1 || !riot.IsKind(err, riot.KindUnavailable) || ctx.Err() != nil {
		return answer, err
	}
	second, err2 := ask(regions[1])
	if err2 == nil || riot.IsKind(err2, riot.KindNotFound) {
		return second, err2
	}
	return answer, err
}
