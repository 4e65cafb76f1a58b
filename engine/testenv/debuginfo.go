package testenv

// What the tests of debug information that is not in the program need.
const (
	XZ      Need = "xz"
	DWZ     Need = "dwz"
	DWP     Need = "dwp"
	LLVMDwp Need = "llvm-dwp"

	LibraryDebug Need = "debug information of the C library (libc6-dbg)"
)
