//go:build !race

package riot_test

// underRace is set where the race detector makes everything ten times as dear.
const underRace = false
