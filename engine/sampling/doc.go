// Package sampling takes samples of threads: a Sampler looks at them, a Schedule says when, a Credit which of them have
// run long enough since their last sample.
//
// # What is fair
//
// A profile of processor time is right if each thread has as many samples as it has run periods, and if a sample falls
// on any moment of its time with the same probability. So a thread is sampled when it has run for a period, not in
// every period: eight threads that share one processor have together as many samples as one that has it alone. A Credit
// begins with a random part of a period, so that threads which live for less than one have their share of samples too.
//
// # What is bounded
//
// A session never falls behind: of periods that have passed already only one is looked at, and the others are counted
// as skipped. The same happens when samples keep the session busy for more than a tenth of the time: the next look
// comes so much later that it is a tenth. The first tenth of a second is free, because the first stacks of a program
// take the reading of its files.
//
// # Threads
//
// Only the session's tracing thread uses a Sampler and what belongs to it. A Schedule and a Credit read no clock.
//
// # One sample, from start to end
//
// Add has the program of a probe compiled. Sync begins when the probe is enabled: Host.After calls for a look once in a
// period. A look goes through all threads of the session for which MayLook. Those that run and are due are asked to
// stop (PTRACE_INTERRUPT), and the session goes on. When such a thread stops, the session calls Stopped with the
// registers readable; the program runs on them and its log is committed. The sample of a thread that sleeps is taken at
// once, from what is known of its sleep. Forget is called when a thread has ended.
package sampling
