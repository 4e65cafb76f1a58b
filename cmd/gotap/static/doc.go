// Package static makes "go build ./cmd/gotap" link a static program, with cgo or without.
//
// Without cgo every Go program is static. With cgo, which is the default wherever a C compiler is installed, the
// package net resolves names through the C library, and the go command links that as a shared library. gotap needs net:
// it connects to remote stubs, and cobra and esbuild import it. No source file can turn cgo off for another package, so
// the one cgo file of this package (cgo.go) asks the C linker for a static program instead. The program does not call
// the C resolver: main has a go:debug line that selects Go's own. (The linker warns that getaddrinfo needs shared
// libraries; the warning does not apply for that reason.)
//
// The build then needs the C library as an archive, libc.a. Debian has it in libc6-dev, Fedora in glibc-static.
// CGO_ENABLED=0, which "make build" sets, needs no C compiler at all.
//
// The package has no functions and starts no threads; main imports it for its link flags.
package static
