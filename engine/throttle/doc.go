// Package throttle measures how much a session slows its targets, and limits that.
//
// # Threads
//
// Only the tracing thread of the session uses this package. StopOver may disable a probe or end the session; both
// happen through the session.
//
// # One window, from start to end
//
// Time is divided into windows. A window adds up the time in which some thread was stopped. That time has two parts.
// The first is from the report of a stop to the thread's resumption, measured by two readings of the clock (which is
// read without entering the kernel). The second is the time that the kernel takes to report the stop and to wake the
// thread, which nobody can measure. That latency is estimated from above: stopped threads did not run, so in no window
// can the latency exceed the time in which the target did not run, divided by the number of stops; the smallest such
// bound seen so far is the estimate. Several threads stopped at once count once. While the session shares a CPU with
// its target (package affinity), stops are cheaper, and the estimate is another one.
//
// With a budget, a window has an allowance. When the allowance is used up, probes rest until the window ends. A
// point is removed by the hit that finds it throttled, so that throttling costs one more hit for each hot place, and
// nothing for all others. Calls in progress are forgotten when the exits of their function start to rest, because
// their leave would not be seen. Counts are then samples, and the user is notified. If throttling is not enough for a
// number of windows, because very many places are hot or because what is hot cannot rest (watchpoints), the hottest
// probe is disabled, then the next; when none is left, the session detaches from its targets.
package throttle
