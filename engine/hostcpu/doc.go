// Package hostcpu tells what the processor is that this program runs on, as far as an emulation of a traced process's instructions on
// it depends on that. All functions are safe for concurrent use.
package hostcpu
