// Package span makes x86-64 machine code that compares, hashes and copies spans of bytes, and writes the digits of
// numbers. Addresses, lengths and numbers are in registers that the caller chooses; rax, rcx and rdx are used besides
// them.
//
// The code reads and writes whole words. So up to 8 bytes behind a span must be readable, and behind what is written
// there must be room for 8 bytes. Nothing is read of an empty span, whose address may be anything.
package span
