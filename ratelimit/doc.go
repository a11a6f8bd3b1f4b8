// Package ratelimit keeps requests within limits that a server counts in fixed
// windows, several at a time, and uses those limits to the full.
//
// Riot counts every request in the windows of two buckets: the application's,
// one for each key and host, and the method's, one for each key, host and
// endpoint. A window opens with the first request that is counted in it, at an
// instant the client never learns: it lies somewhere between the sending of the
// request and its answer.
//
// # Why no window overflows
//
// A request takes a slot in all windows of both buckets in one step, or in
// none. It holds the slot from its grant until a full window and a slack after
// its answer, or after it was given up. Take any window [t, t+W) of the
// server's and the request granted last among those counted in it, at g < t+W.
// Every other request counted there was counted at t or later, so it was
// answered at t or later and holds its slot until t+W or later: at g they all
// held one. No more slots are granted than the limit, so the window holds no
// more than its limit, wherever it opens. The one assumption is that nothing is
// counted after its connection is closed.
//
// # What is learned from answers
//
// Limits are learned from answers ([Answer]); until the first, one request of a
// bucket is under way at a time. Counts only ever raise what is thought to be
// used: a count higher than what the limiter itself can have sent shows another
// program on the key, or an earlier run of this one, and is held for a whole
// window.
//
// The package knows no HTTP and nothing of the rest of the module. Its core
// takes the present as an argument; [Limiter] is the blocking shell around it.
package ratelimit
