// Package armtest runs gotap's tests of real processes on ARM: on Debian's kernels for 32-bit and 64-bit ARM, in machines that QEMU emulates.
//
// How a run goes. Go builds the tests of package engine, and gotap, for the machine; a cross compiler builds the programs that the tests
// trace: A32, Thumb and A64, static and with shared libraries. All that goes into an initramfs (cpio.go), whose first process is the program in
// folder guest: it mounts what a system needs, runs the commands that the image lists, and switches the machine off. Boot
// returns what was written to the console; a test looks for the verdicts there.
//
// The kernels come from Debian's packages, which apt fetches and nobody installs (kernel.go). They are kept in the user's cache directory, so that
// only the first run needs a network.
//
// There are no threads here but those of QEMU, and nothing is shared between two machines.
package armtest
