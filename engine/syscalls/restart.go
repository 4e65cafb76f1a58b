package syscalls

// Restarts reports whether the result of a system call, extended with its sign to 64 bits, is one of the codes by which the kernel says
// to itself that it will make the call again: ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND and ERESTART_RESTARTBLOCK (the kernel's
// include/linux/errno.h). Programs never see them, tracers do. What only ends in the same 32 bits is a result like any other, as an
// offset just below 4 GiB is.
func Restarts(result uint64) bool {
	code := -int64(result)
	return code >= 512 && code <= 514 || code == 516
}
