// Package sampling decides when threads are sampled: a Schedule when a session looks at its threads, a Credit which of them have run long
// enough since their last sample.
//
// # What is fair
//
// A profile of processor time is right if each thread has as many samples as it has run periods, and if a sample falls on any moment of its
// time with the same probability. So a thread is sampled when it has run for a period, not in every period: eight threads that share one
// processor have together as many samples as one that has it alone. A Credit begins with a random part of a period, so that threads which
// live for less than one have their share of samples too.
//
// # What is bounded
//
// A session never falls behind: of periods that have passed already only one is looked at, and the others are counted as skipped. The same
// happens when samples keep the session busy for more than a tenth of the time: the next look comes so much later that it is a tenth. The
// first tenth of a second is free, because the first stacks of a program take the reading of its files.
//
// # Threads
//
// The values belong to one goroutine at a time. They read no clock.
package sampling
