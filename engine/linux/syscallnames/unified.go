package syscallnames

import "slices"

// unified are the calls from number 424 on, which have the same number for all instruction sets (the kernel's
// scripts/syscall.tbl).
var unified = []string{
	424: "pidfd_send_signal", 425: "io_uring_setup", 426: "io_uring_enter", 427: "io_uring_register", 428: "open_tree",
	429: "move_mount", 430: "fsopen", 431: "fsconfig", 432: "fsmount", 433: "fspick", 434: "pidfd_open", 435: "clone3",
	436: "close_range", 437: "openat2", 438: "pidfd_getfd", 439: "faccessat2", 440: "process_madvise", 441: "epoll_pwait2",
	442: "mount_setattr", 443: "quotactl_fd", 444: "landlock_create_ruleset", 445: "landlock_add_rule",
	446: "landlock_restrict_self", 447: "memfd_secret", 448: "process_mrelease", 449: "futex_waitv",
	450: "set_mempolicy_home_node", 451: "cachestat", 452: "fchmodat2", 453: "map_shadow_stack", 454: "futex_wake",
	455: "futex_wait", 456: "futex_requeue", 457: "statmount", 458: "listmount", 459: "lsm_get_self_attr",
	460: "lsm_set_self_attr", 461: "lsm_list_modules", 462: "mseal", 463: "setxattrat", 464: "getxattrat",
	465: "listxattrat", 466: "removexattrat", 467: "open_tree_attr", 468: "file_getattr", 469: "file_setattr",
	470: "listns", 471: "rseq_slice_yield",
}

// times64 are the calls of 32-bit processes for times after 2038, which have the same numbers for all of them.
var times64 = []string{
	403: "clock_gettime64", 404: "clock_settime64", 405: "clock_adjtime64", 406: "clock_getres_time64",
	407: "clock_nanosleep_time64", 408: "timer_gettime64", 409: "timer_settime64", 410: "timerfd_gettime64",
	411: "timerfd_settime64", 412: "utimensat_time64", 413: "pselect6_time64", 414: "ppoll_time64",
	416: "io_pgetevents_time64", 417: "recvmmsg_time64", 418: "mq_timedsend_time64", 419: "mq_timedreceive_time64",
	420: "semtimedop_time64", 421: "rt_sigtimedwait_time64", 422: "futex_time64", 423: "sched_rr_get_interval_time64",
}

// with returns a table with the names of others where it has none.
func with(own []string, others ...[]string) []string {
	for _, o := range others {
		own = append(own, make([]string, max(0, len(o)-len(own)))...)
		for number, name := range o {
			if own[number] == "" {
				own[number] = name
			}
		}
	}
	return own
}

// without returns a table without the call of a number, which an instruction set lacks.
func without(table []string, number int) []string {
	return slices.Replace(table, number, number+1, "")
}
