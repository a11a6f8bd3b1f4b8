//go:build !race

package hour_test

// dayHours is how many hours of the virtual day pass.
const dayHours = 24
