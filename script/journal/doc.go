// Package journal is the boundary between a script and the world outside: records, events of processes, timers, and the
// answers to its questions (symbols, memory, files, the clock).
//
// # One question
//
// A built-in function that reads the world calls Ask with a text that identifies the question. In a normal run Ask
// calls the function that reads the world. With a Journal the answer is recorded; with a Replay it comes from a
// recording, and the world is not read.
//
// # Threads
//
// All calls are made on the goroutine that owns the JavaScript machine. Package recording implements Journal and
// Replay.
package journal
