// Package schedule knows when a channel chimes: the hours and the zone as
// people type them, the slots that follow from them, summer time, and the
// rehearsal whose hours last seconds. It is pure: the current time is an
// argument everywhere. Everything in it is safe for concurrent use.
package schedule
