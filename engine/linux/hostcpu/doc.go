// Package hostcpu describes the processor that this program runs on, as far as the emulation of a traced process's
// instructions depends on it. All functions are safe for concurrent use.
package hostcpu
