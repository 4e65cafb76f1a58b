// Package element finds elements of containers whose elements do not follow one another: in trees, in tables of slots,
// in blocks. A Layout is plain data: debug information makes it, a program has it as a constant text, the machine finds
// with it.
//
// The container belongs to the target, which may be changing it, or may lie about it. Every search is bounded: an
// element that is not found within the bounds, or behind memory that cannot be read, is not there.
package element
