package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// notice is what Riot asks every product to say.
const notice = "RiftChime isn't endorsed by Riot Games and doesn't reflect the views or opinions of Riot Games " +
	"or anyone officially involved in producing or managing Riot Games properties. Riot Games, and all associated " +
	"properties are trademarks or registered trademarks of Riot Games, Inc."

// version is set by the linker; without it the module's own is used.
var version = ""

// programVersion is the version as people are told it.
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "development"
	}
	return info.Main.Version
}

type versionCmd struct{}

// Run prints the version and Riot's notice.
func (versionCmd) Run(s streams) error {
	_, err := fmt.Fprintf(s.out, "riftchime %s (%s %s/%s)\n\n%s\n", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, notice)
	return err
}
