/* Calls that few programs make: most fail at once, and all have the same arguments each time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define S(name, ...) syscall(SYS_##name, __VA_ARGS__)

static int attr[12] = { 48 };
static long none[16];

static void priorities(void)
{
	S(ioprio_set, 1, 0, 2 << 13 | 4);
	S(ioprio_get, 1, 0);
	S(ioprio_set, 9, 0, 7 << 13);
	S(sched_setattr, 0, attr, 0);
	S(sched_getattr, 0, attr, 48, 0);
	S(personality, 0xffffffff);
	S(personality, 0x40000);
}

static void restrictions(void)
{
	S(seccomp, 2, 0, 0);
	S(seccomp, 1, 0x83, 0);
	S(prctl, 22, 0, 0, 0, 0);
	S(keyctl, 0, -3, 0);
	S(keyctl, 3, 1);
	S(keyctl, 8, 1, -2);
	S(keyctl, 11, 1, 0, 8);
	S(add_key, "nokey", "d", "pay", 3, -2);
	S(request_key, "nokey", "d", 0, -1);
	S(landlock_create_ruleset, 0, 0, 1);
	S(landlock_restrict_self, 99, 0);
}

static void files(void)
{
	S(fanotify_init, 0xc, 0x80000);
	S(fanotify_mark, 99, 1, 0x40000022, -100, "/");
	S(mq_open, "/none", 0, 0, 0);
	S(mq_unlink, "/none");
	S(open_tree, 99, "none", 0x80001);
	S(move_mount, 99, "", -100, "/none", 4);
	S(fsopen, "none", 1);
	S(fsconfig, 99, 1, "key", "value", 0);
	S(fsmount, 99, 1, 3);
	S(fspick, 99, "none", 1);
	S(pivot_root, "/none", "/none");
	S(swapoff, "/none");
}

int main(void)
{
	priorities();
	restrictions();
	files();
	S(io_uring_enter, 99, 1, 0, 3, 0, 0);
	S(io_uring_register, 99, 2, 0, 0);
	S(rseq, 0, 32, 0, 0x53053053);
	S(kcmp, 1, 1, 0, 98, 99); /* the first process cannot be this one */
	S(process_vm_readv, -1, 0, 0, 0, 0, 0);
	S(process_madvise, 99, 0, 1, 20, 0);
	S(madvise, 0x1000, 4096, 21);
	S(clock_settime, 1, none);
	S(msgsnd, 99, 0, 1, 04000);
	S(msgrcv, 99, 0, 1, 0, 014000);
	S(pkey_free, 99);
	S(io_destroy, 0);
	return 0;
}
