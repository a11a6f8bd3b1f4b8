//go:build race

package hour_test

// dayHours is how many hours of the virtual day pass: the race detector makes
// each some times as expensive.
const dayHours = 4

// chaosSeeds is how many random courses of events are tried.
const chaosSeeds = 2

// thorough: the tables are tried whole.
const thorough = false
