package syscallnames

// Restarts reports whether the result of a system call, sign-extended to 64 bits, is one of the codes that the kernel
// uses internally for a call that it restarts: ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND and ERESTART_RESTARTBLOCK
// (the kernel's include/linux/errno.h). Programs never see them, tracers do. A result that only has the same lower 32
// bits is an ordinary one, such as an offset just below 4 GiB.
func Restarts(result uint64) bool {
	code := -int64(result)
	return code >= 512 && code <= 514 || code == 516
}
