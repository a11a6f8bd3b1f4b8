package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"riftchime/riot"
	"riftchime/store"
)

// forgetCmd deletes a player and all that is kept of them. The bot may run
// meanwhile.
type forgetCmd struct {
	storeSettings
	logSettings
	RiotID   string `name:"riot-id" required:"" placeholder:"NAME#TAG" help:"The player's Riot ID; quote it, since # begins a comment in many shells."`
	Platform string `placeholder:"PLATFORM" help:"Only a player of this platform, such as kr or euw1."`
}

// Run forgets.
func (c *forgetCmd) Run(ctx context.Context, s streams) error {
	id, err := riot.ParseRiotID(c.RiotID)
	if err != nil {
		return settingsErrorf(`--riot-id must be a Riot ID, name and tag, such as "Name#TAG" (%s)`, err)
	}
	platform := riot.Platform(strings.ToLower(strings.TrimSpace(c.Platform)))
	if platform != "" && !platform.Valid() {
		return settingsErrorf("--platform %q is not known: it must be one of %s", c.Platform, platforms())
	}
	player, err := c.find(ctx, s, id, platform)
	if err != nil {
		return err
	}
	db, err := openStore(ctx, c.DatabaseURL, false, c.logger(s.err))
	if err != nil {
		return err
	}
	defer db.Close()
	// Gone by now is as good as forgotten.
	if err := db.Forget(ctx, player.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%s is not forgotten, try again: %w", player.Name(), err)
	}
	if _, err := fmt.Fprintf(s.out, "Forgotten: %s (%s). The player is deleted, with the registrations in every channel, "+
		"the ranks, the games and the reasons; the name is taken out of the matches and reports that are kept.\n"+
		"Messages in Discord, exports and copies of the database are not changed.\n", player.Name(), player.Platform); err != nil {
		return err
	}
	other, err := db.PlayerByRiotID(ctx, string(platform), id.GameName, id.TagLine)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for another player of this Riot ID: %w", err)
	}
	_, err = fmt.Fprintf(s.out, "Another player is stored under the same Riot ID (%s), who had it at another time: "+
		"run the same once more to forget that one too.\n", other.Platform)
	return err
}

// find looks the player up without changing anything, so that a wrong setting
// makes no new database.
func (c *forgetCmd) find(ctx context.Context, s streams, id riot.RiotID, platform riot.Platform) (store.Player, error) {
	db, err := openToRead(ctx, c.storeSettings, c.logSettings, s)
	if err != nil {
		return store.Player{}, err
	}
	defer db.Close()
	p, err := db.PlayerByRiotID(ctx, string(platform), id.GameName, id.TagLine)
	if errors.Is(err, store.ErrNotFound) {
		where := ""
		if platform != "" {
			where = " on " + string(platform)
		}
		return p, settingsErrorf("nobody is stored as %s%s: /list shows players under their present Riot IDs", id, where)
	}
	if err != nil {
		return p, fmt.Errorf("looking for %s: %w", id, err)
	}
	return p, nil
}

// platforms lists all there are.
func platforms() string {
	all := riot.Platforms()
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}
