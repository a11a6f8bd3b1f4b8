package discord_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs more tests at a time than there are processors: those of the
// gateway wait for most of their time, since discordgo sleeps for a second
// whenever it closes a connection.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "12"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
