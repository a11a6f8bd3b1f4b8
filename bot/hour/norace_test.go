//go:build !race

package hour_test

// dayHours is how many hours of the virtual day pass.
const dayHours = 24

// chaosSeeds is how many random courses of events are tried.
const chaosSeeds = 20

// thorough: the tables are tried whole.
const thorough = true
