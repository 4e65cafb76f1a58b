// Package sectioncache keeps decompressed sections of ELF files on disk, and other things that take long to derive from
// a file. Distributions compress debug information, and decompressing that of a large program takes longer than
// anything else at the start of a session, so that a second session maps what the first one left.
//
// # Layout
//
// A section is one file in the cache's directory, which contains the decompressed bytes and nothing else. Its name is
// the SHA-256 of the compressed section: a file can be found only by who has the same section, whatever build ID or
// path its file claims to have, and an update of a package needs no invalidation. For what Derived keeps, the caller's
// key has the place of the section: it has to cover all that the result depends on, and the caller says whether a kept
// result is whole. Everything in the directory may be deleted at any time.
//
// # Trust
//
// The directory must belong to the effective user and be writable by nobody else, and so must each file; otherwise the
// section is decompressed as if there were no cache. All access goes through an os.Root, so that links in the directory
// lead nowhere. A section is written to a temporary file, flushed to disk and renamed, so that a file with the final
// name is whole.
//
// # Failures
//
// A cache saves time and nothing else. Failures, such as a full disk, a read-only file system or an unset HOME, are not
// reported: the section is decompressed then.
package sectioncache
