package main

import (
	"os"
	"testing"
)

// asProgram in the environment makes the test binary be the program: the tests
// of processes need no build of their own, and with -race the program is
// watched too.
const asProgram = "RIFTCHIME_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}
