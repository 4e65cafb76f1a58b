// Package gate decides which hits of a probe count, in words that executors share.
//
// A probe has one Gate. Its words lie in the arena, so an executor in another process that maps the arena counts in the
// same words; without an arena they are ordinary memory. A hit comes to the gate once: Admit counts it as seen, and
// lets it pass when After hits have come before it, when it is the Every-th of those, when fewer than Rate passed in
// the same second, and when fewer than Limit have passed in all. Those that pass are the hits of the probe.
//
// # Layout
//
// 16 words, aligned to a cache line. Limits are written once, before any executor runs; counters only grow.
//
//	 0  after         hits that are let pass first
//	 1  every         only each n-th hit counts; 0 and 1: all
//	 2  rate          hits a second; 0: any number
//	 3  limit         hits in all since base; 0: any number
//	 4  seen          hits that came here; without limits nobody counts them, because all of them are hits
//	 5  rejected      hits that the probe's predicate rejected before
//	 6  hits          hits that counted
//	 7  rate-limited  hits beyond rate
//	 8  missed        calls that could not be followed to their return
//	 9  too deep      of them, calls beyond the number that is followed at once
//	10  base          hits when limit began to count, which Renew moves
//	11  second        when the present second began, nanoseconds of CLOCK_MONOTONIC
//	12  in second     hits that counted in it
//
// # Threads
//
// Every access is one atomic operation, and any number of threads may come to a gate at once. Limit is exact then: a
// hit that finds it reached takes itself back. Rate may let one hit too many pass for each thread that meets the turn
// of a second.
//
// An addition that no other processor contends for costs some nanoseconds, beside a stop of microseconds. In a gate
// without limits an executor that runs without a stop counts in shares of threads instead (SetShare), which are added
// up when somebody asks for the numbers.
package gate
