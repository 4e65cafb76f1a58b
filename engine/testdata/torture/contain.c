/* contain KIND COMMAND...: runs a command whose system calls are filtered */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)
#define PROT_READ_EXEC 5
#define TRAP 5

int main(int argc, char **argv)
{
	struct sock_filter container[] = { /* like those of container runtimes: some calls fail */
		LOAD(nr),
		UNLESS(SYS_keyctl, 1), ANSWER(SECCOMP_RET_ERRNO | EPERM),
		UNLESS(SYS_mount, 1), ANSWER(SECCOMP_RET_ERRNO | EPERM),
		UNLESS(SYS_bpf, 1), ANSWER(SECCOMP_RET_ERRNO | EPERM),
		UNLESS(0x1234, 1), ANSWER(SECCOMP_RET_KILL_PROCESS),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	struct sock_filter mapping[] = { /* ends a process that maps code of its own making */
		LOAD(nr), UNLESS(SYS_mmap, 5),
		LOAD(args[2]), UNLESS(PROT_READ_EXEC, 3),
		LOAD(args[4]), UNLESS(0xffffffff, 1), ANSWER(SECCOMP_RET_KILL_PROCESS),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	struct sock_filter trap[] = { /* ends one that asks or sets what SIGTRAP does */
		LOAD(nr), UNLESS(SYS_rt_sigaction, 3),
		LOAD(args[0]), UNLESS(TRAP, 1), ANSWER(SECCOMP_RET_KILL_PROCESS),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	const struct { const char *name; struct sock_fprog p; } all[] = {
		{ "container", { sizeof container / sizeof *container, container } },
		{ "mapping", { sizeof mapping / sizeof *mapping, mapping } },
		{ "trap", { sizeof trap / sizeof *trap, trap } },
	};
	for (unsigned i = 0; argc > 2 && i < sizeof all / sizeof *all; i++) {
		if (strcmp(argv[1], all[i].name))
			continue;
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all[i].p))
			return 1;
		execvp(argv[2], argv + 2);
	}
	perror(argv[argc - 1]);
	return 1;
}
