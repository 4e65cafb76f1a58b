/* processes MODE: processes made and ended in unusual ways */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
static volatile long shared;
static char stack[4][64 << 10];

FUNC long work(long i) { __asm__ volatile("" ::: "memory"); return i * 7 + 1; }
FUNC int child(void *n)
{
	for (long i = 0; i < 20; i++)
		shared += work(i) - i * 7;
	return 3 + (int)(intptr_t)n;
}

/* clone with flags: the child shares memory, or not */
static void cloned(const char *name, int flags)
{
	int status = -1;
	shared = 0;
	pid_t pid = clone(child, stack[0] + sizeof stack[0], flags, (void *)1L);
	if (pid < 0) {
		printf("%s: %s\n", name, strerror(errno));
		return;
	}
	pid_t got = waitpid(pid, &status, __WALL);
	printf("%s: same %d status %#x shared %ld\n", name, got == pid, status, shared);
}

static int clones(void)
{
	signal(SIGUSR1, SIG_IGN);
	cloned("vm", CLONE_VM | SIGCHLD);
	cloned("vm vfork", CLONE_VM | CLONE_VFORK | SIGCHLD);
	cloned("vfork alone", CLONE_VFORK | SIGCHLD);
	cloned("vm sighand files", CLONE_VM | CLONE_SIGHAND | CLONE_FILES | CLONE_FS | SIGCHLD);
	cloned("no signal", 0);
	cloned("another signal", SIGUSR1);
	cloned("vm, no signal", CLONE_VM);
	cloned("untraced", CLONE_UNTRACED | SIGCHLD);
	cloned("untraced vm", CLONE_UNTRACED | CLONE_VM | SIGCHLD);
	cloned("ptrace", CLONE_PTRACE | SIGCHLD);
	cloned("settid", CLONE_CHILD_SETTID | SIGCHLD);
	return 0;
}

/* clone3 with flags; the child ends by a system call */
static void cloned3(const char *name, uint64_t flags, int signal)
{
	int status = -1, fd = -1;
	struct clone_args a = { .flags = flags, .pidfd = (uintptr_t)&fd, .exit_signal = signal };
	if (flags & CLONE_VM)
		a.stack = (uintptr_t)stack[1], a.stack_size = sizeof stack[1];
	long pid = syscall(SYS_clone3, &a, sizeof a);
	if (!pid)
		_exit(child((void *)2L));
	if (pid < 0) {
		printf("%s: %s\n", name, strerror(errno));
		return;
	}
	printf("%s: fd %d", name, fd >= 0);
	pid_t got = waitpid(pid, &status, __WALL);
	printf(" same %d status %#x\n", got == pid, status);
	if (fd >= 0)
		close(fd);
}

static int clones3(void)
{
	signal(SIGUSR2, SIG_IGN);
	cloned3("plain", 0, SIGCHLD);
	cloned3("pidfd", CLONE_PIDFD, SIGCHLD);
	cloned3("clear", CLONE_CLEAR_SIGHAND, SIGCHLD);
	cloned3("clear pidfd", CLONE_CLEAR_SIGHAND | CLONE_PIDFD, SIGUSR2);
	cloned3("parent", CLONE_PARENT, 0);
	cloned3("untraced", CLONE_UNTRACED, SIGCHLD);
	cloned3("fs files", CLONE_FS | CLONE_FILES, SIGCHLD);
	return 0;
}

/* execs itself again and again, by vfork and without; each turn says where it is */
static int chain(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 6, status = 0;
	char next[16];
	sprintf(next, "%d", n - 1);
	printf("turn %d %ld\n", n, work(n));
	fflush(stdout);
	if (n <= 0)
		return 5;
	if (n & 1) {
		execl("/proc/self/exe", argv[0], argv[1], next, NULL);
		return 9;
	}
	pid_t pid = vfork();
	if (!pid) {
		execl("/proc/self/exe", argv[0], argv[1], next, NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	printf("back %d %#x\n", n, status);
	return WEXITSTATUS(status);
}

/* a child that stops itself, is stopped, and continued, seen by its parent */
static int job(void)
{
	int status, seen[2];
	char c;
	(void)!pipe(seen);
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();
		if (!pid) {
			setpgid(0, 0); // in an orphaned group, as where there is no terminal, SIGTSTP would not stop it
			raise(i & 1 ? SIGTSTP : SIGSTOP);
			(void)!read(seen[0], &c, 1);
			child(NULL);
			raise(SIGSTOP);
			(void)!read(seen[0], &c, 1);
			_exit(4);
		}
		for (int stops = 0; stops < 2; stops++) {
			waitpid(pid, &status, WUNTRACED);
			printf("stopped %#x ", status);
			kill(pid, SIGCONT);
			waitpid(pid, &status, WCONTINUED);
			printf("continued %#x\n", status);
			(void)!write(seen[1], "x", 1);
		}
		waitpid(pid, &status, 0);
		printf("ended %#x\n", status);
	}
	return 0;
}

/* a grandchild is sent a signal when its parent ends */
static int orphan(void)
{
	int p[2], status;
	char c[8];
	sigset_t set;
	(void)!pipe(p);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid_t pid = fork();
	if (!pid) {
		pid_t parent = getpid();
		if (!fork()) {
			int sig;
			prctl(PR_SET_PDEATHSIG, SIGUSR1);
			if (getppid() == parent)
				(void)!write(p[1], "r", 1);
			sigwait(&set, &sig);
			child(NULL);
			(void)!write(p[1], sig == SIGUSR1 ? "ok" : "no", 2);
			_exit(0);
		}
		(void)!read(p[0], c, 1);
		_exit(6);
	}
	waitpid(pid, &status, 0);
	close(p[1]);
	ssize_t n = read(p[0], c, 2);
	printf("status %#x, %zd: %.2s\n", status, n, c);
	return 0;
}

/* cannot be dumped, and so not be looked at by just anybody */
static int hidden(void)
{
	printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
	prctl(PR_SET_DUMPABLE, 0);
	child(NULL);
	pid_t pid = fork();
	int status;
	if (!pid)
		_exit(child(NULL));
	waitpid(pid, &status, 0);
	printf("dumpable %d, %ld, %#x\n", prctl(PR_GET_DUMPABLE), shared, status);
	return 0;
}

/* gives up being root, by itself and by executing itself with another owner and the bit that says so */
static int setuid_exec(int argc, char **argv)
{
	char self[4096], copy[4200], text[64 << 10];
	if (argc > 2) {
		printf("uid %d euid %d\n", getuid(), geteuid());
		child(NULL);
		return 7;
	}
	if (geteuid())
		return puts("not root"), 0;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n] = 0;
	snprintf(copy, sizeof copy, "%s.setuid%d", self, getpid());
	FILE *from = fopen(self, "r"), *to = fopen(copy, "w");
	while ((n = fread(text, 1, sizeof text, from)) > 0)
		fwrite(text, 1, n, to);
	fclose(to);
	(void)!chown(copy, 65534, 65534);
	chmod(copy, 06755);
	fflush(stdout);
	pid_t pid = fork();
	int status;
	if (!pid) {
		execl(copy, argv[0], argv[1], "again", NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	unlink(copy);
	printf("status %#x\n", status);
	if (setresuid(65534, 65534, 65534))
		return 1;
	child(NULL);
	printf("uid %d\n", getuid());
	return 0;
}

/* its first thread ends, and another goes on, makes a process and executes itself */
static char **args;
static void *survivor(void *unused)
{
	usleep(2000);
	child(NULL);
	pid_t pid = fork();
	int status;
	if (!pid)
		_exit(child(NULL));
	waitpid(pid, &status, 0);
	printf("survivor %ld %#x\n", shared, status);
	fflush(stdout);
	execl("/proc/thread-self/exe", args[0], "chain", "2", NULL);
	return unused;
}

static int headless(char **argv)
{
	pthread_t id;
	args = argv;
	pthread_create(&id, NULL, survivor, NULL);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	return !strcmp(mode, "clones") ? clones() :
	       !strcmp(mode, "clones3") ? clones3() :
	       !strcmp(mode, "chain") ? chain(argc, argv) :
	       !strcmp(mode, "job") ? job() :
	       !strcmp(mode, "orphan") ? orphan() :
	       !strcmp(mode, "hidden") ? hidden() :
	       !strcmp(mode, "setuid") ? setuid_exec(argc, argv) :
	       !strcmp(mode, "headless") ? headless(argv) : 2;
}
