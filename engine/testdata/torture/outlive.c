/* outlive MODE: works without pause, in the way that MODE says, until standard input says or ends */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
static volatile int *stop, *ready;

FUNC long leaf(long i) { __asm__ volatile("" ::: "memory"); return i * 3 + 1; }
FUNC long fact(long n) { long r = n <= 1 ? 1 : fact(n - 1) * n; __asm__ volatile("" ::: "memory"); return r; }
static long (*volatile chosen)(long) = leaf;
FUNC long mixed(long i) { return leaf(i) - chosen(i) + fact(5) - 120; }

FUNC long runs(void)
{
	long bad = 0;
	++*ready;
	for (long i = 0; !*stop; i++)
		bad += mixed(i) != 0;
	return bad;
}

static void *thread(void *mode)
{
	sigset_t all;
	sigfillset(&all);
	if (mode)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	return (void *)runs();
}

/* allows what the program needs, and ends it for anything else */
static void filtered(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog p = { sizeof f / sizeof f[0], f };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

static void child(const char *mode)
{
	if (!strcmp(mode, "filter"))
		filtered();
	if (!strcmp(mode, "strict"))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	long bad = runs();
	if (!strcmp(mode, "strict"))
		syscall(SYS_exit, bad ? 1 : 9);
	_exit(bad ? 1 : 9);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int processes = !!strcmp(mode, "threads") && !!strcmp(mode, "blocked"), status = 9 << 8;
	struct clone_args a = { .flags = !strcmp(mode, "clear") ? CLONE_CLEAR_SIGHAND : 0, .exit_signal = SIGCHLD };
	pthread_t id[3];
	char c;
	void *bad = NULL;
	stop = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ready = stop + 1;
	puts("begin");
	fflush(stdout);
	(void)!read(0, &c, 1);
	if (processes && !syscall(SYS_clone3, &a, sizeof a))
		child(mode);
	for (int i = 0; !processes && i < 3; i++)
		pthread_create(&id[i], NULL, thread, !strcmp(mode, "blocked") ? &id : NULL);
	while (!*ready)
		usleep(100);
	puts("ready");
	fflush(stdout);
	(void)!read(0, &c, 1);
	*stop = 1;
	for (int i = 0; !processes && i < 3; i++) {
		void *some;
		pthread_join(id[i], &some);
		bad = some ? some : bad;
	}
	if (processes)
		wait(&status);
	printf("outlive bad=%ld status %#x\n", (long)bad, status);
	return 0;
}
