//go:build !race

package storetest

// raceEnabled: the race detector slows everything down.
const raceEnabled = false
