package testenv

// What the tests in emulated machines need.
const (
	QEMUSystemARM   Need = "qemu-system-arm"
	QEMUSystemARM64 Need = "qemu-system-aarch64"
	DpkgDeb         Need = "dpkg-deb"
	ARMKernel       Need = "a kernel from Debian's packages, by apt"
)
