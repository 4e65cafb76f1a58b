// Memory, processes, threads, limits, identities.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void memory(void)
{
	char *p = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE, -1, 0);
	mprotect(p, 4096, PROT_NONE), mprotect(p, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	madvise(p, 4096, MADV_DONTNEED), madvise(p, 4096, MADV_HUGEPAGE), madvise(p, 4096, 999);
	mremap(p, 16384, 32768, MREMAP_MAYMOVE), mremap((void *)4096, 1, 2, 0);
	unsigned char in[4];
	mincore(p, 4096, in), msync(p, 4096, MS_SYNC | MS_INVALIDATE), mlock(p, 4096), mlock2(p, 4096, MLOCK_ONFAULT), munlock(p, 4096), mlockall(MCL_CURRENT), munlockall();
	munmap((void *)1, 1);
	mmap(NULL, 4096, PROT_READ, MAP_SHARED, 99, 4096);
	mmap((void *)0x10000000, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	mmap((void *)0x10000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_STACK | MAP_GROWSDOWN | MAP_LOCKED, -1, 0);
	mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	syscall(SYS_brk, 0);
	syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	void *at = shmat(id, NULL, SHM_RDONLY);
	shmdt(at), shmctl(id, IPC_RMID, NULL);
	id = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
	semop(id, &(struct sembuf){0, 1, IPC_NOWAIT}, 1), semctl(id, 0, IPC_RMID);
}

static int child(void *arg) { return *(int *)arg; }

static void processes(void)
{
	static char stack[65536];
	int status, code = 5;
	waitpid(clone(child, stack + sizeof stack, SIGCHLD | CLONE_FS | CLONE_FILES, &code), &status, 0);
	pid_t tid;
	waitpid(clone(child, stack + sizeof stack, SIGCHLD | CLONE_PARENT_SETTID | CLONE_VFORK | CLONE_VM, &code, &tid), &status, 0);
	int fd = -1;
	struct clone_args args = {.flags = CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&fd, .exit_signal = SIGCHLD};
	pid_t pid = syscall(SYS_clone3, &args, sizeof args);
	if (pid == 0)
		_exit(9);
	waitpid(pid, &status, 0);
	close(fd);
	pid = vfork();
	if (pid == 0)
		execle("/bin/true", "true", "an argument", "quoted \" and\n", NULL, (char *[]){"A=1", "B=2", NULL});
	waitpid(pid, &status, 0);
	execl("/none", "none", NULL);
	syscall(SYS_pidfd_open, getpid(), 0), syscall(SYS_pidfd_send_signal, 99, SIGTERM, NULL, 0);
}

static void futexes(void)
{
	uint32_t word = 1;
	struct timespec ts = {0, 1000};
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL), syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &ts), syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 1, &ts, NULL, FUTEX_BITSET_MATCH_ANY), syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, INT32_MAX, NULL, NULL, 3);
	syscall(SYS_futex, &word, FUTEX_REQUEUE, 1, 2, &word + 1), syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 2, &word + 1, 7);
	syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, 2, &word, FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_GT, 1)), syscall(SYS_futex, &word, FUTEX_TRYLOCK_PI), syscall(SYS_futex, &word, 99, 1);
}

static void limits(void)
{
	struct rlimit r;
	struct rusage u;
	struct tms t;
	struct utsname name;
	struct sysinfo si;
	cpu_set_t cpus;
	struct sched_param sp = {0};
	unsigned cpu;
	getrlimit(RLIMIT_NOFILE, &r), prlimit(0, RLIMIT_STACK, NULL, &r), prlimit(0, RLIMIT_CORE, &(struct rlimit){0, RLIM_INFINITY}, &r), setrlimit(RLIMIT_CPU, &(struct rlimit){1000, 2000});
	syscall(SYS_getrlimit, RLIMIT_FSIZE, &r), syscall(SYS_setrlimit, RLIMIT_MEMLOCK, &(struct rlimit){65536, 1 << 20}), syscall(SYS_getrlimit, 99, &r);
	getrusage(RUSAGE_SELF, &u), getrusage(RUSAGE_CHILDREN, &u), times(&t), uname(&name), sysinfo(&si);
	sched_getaffinity(0, sizeof cpus, &cpus), sched_setaffinity(0, sizeof cpus, &cpus), sched_getscheduler(0), sched_getparam(0, &sp), sched_setscheduler(0, SCHED_BATCH, &sp);
	sched_get_priority_max(SCHED_FIFO), sched_yield(), syscall(SYS_getcpu, &cpu, NULL, NULL);
	getpriority(PRIO_PROCESS, 0), setpriority(PRIO_PROCESS, 0, 1), nice(1);
	char name16[16];
	prctl(PR_SET_NAME, "a name that is too long"), prctl(PR_GET_NAME, name16), prctl(PR_SET_PDEATHSIG, SIGHUP), prctl(PR_GET_DUMPABLE), prctl(PR_SET_DUMPABLE, 1), prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_SECCOMP), prctl(PR_SET_CHILD_SUBREAPER, 1), prctl(PR_GET_TIMERSLACK), prctl(9999, 1, 2, 3, 4);
	unsigned long fs;
	syscall(SYS_arch_prctl, ARCH_GET_FS, &fs), syscall(SYS_arch_prctl, 0x9999, 0), personality(0xffffffff);
	struct timeval tv;
	time_t now;
	syscall(SYS_gettimeofday, &tv, NULL), syscall(SYS_time, &now), syscall(SYS_time, NULL);
	getrandom(name16, 16, GRND_NONBLOCK), getrandom(name16, 0, 0);
}

static void identities(void)
{
	gid_t groups[64];
	uid_t a, b, c;
	getuid(), geteuid(), getgid(), getegid(), getppid(), gettid(), getpgrp(), getpgid(0), getsid(0), setsid(), setpgid(0, 0);
	getgroups(64, groups), getgroups(0, NULL), getresuid(&a, &b, &c), getresgid(&a, &b, &c), setuid(0), setgid(0), setreuid(-1, 0), setresuid(-1, 0, 0), setfsuid(0), setfsgid(0);
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];
	syscall(SYS_capget, &head, data), chroot("none"),
		syscall(SYS_unshare, CLONE_FS | CLONE_FILES), syscall(SYS_setns, -1, 0), sethostname(NULL, 99999);
	syscall(SYS_mount, "none", "none", "tmpfs", MS_NODEV | MS_NOSUID, "size=1"), syscall(SYS_umount2, "none", MNT_DETACH);
}

int main(void)
{
	memory();
	processes();
	futexes();
	limits();
	identities();
	kill(getpid(), SIGKILL);
}
