// Package mapped maps ELF files into memory and hands out their sections: what unwinding and debug information are read
// from. Only section headers are parsed when a file is opened; uncompressed sections are slices of the mapping, so that
// a program of a hundred megabytes costs no memory until something looks at it, and then only page cache.
//
// An Image is safe for concurrent use. Its sections must not be used after Close. A file that is truncated in
// place while it is mapped makes accesses fault; readers of sections guard against that with debug.SetPanicOnFault.
package mapped
