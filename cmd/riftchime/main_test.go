package main

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// asProgram in the environment makes the test binary be the program: the tests
// of processes need no build of their own, and with -race the program is
// watched too.
const asProgram = "RIFTCHIME_TEST_AS_PROGRAM"

// processes is how many tests run side by side where -parallel does not say it:
// theirs are processes that wait for hours to end, and hardly use the machine.
const processes = "12"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		if err := flag.Set("test.parallel", processes); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}
