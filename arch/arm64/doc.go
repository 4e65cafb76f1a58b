// Package arm64 is A64, the instruction set of 64-bit ARM: a decoder, and the emulation of what a user process may execute.
package arm64
