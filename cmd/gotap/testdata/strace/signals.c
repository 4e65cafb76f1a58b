// Signals: sent, blocked, queued, waited for, caught, fatal.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static void note(int n) { (void)n; }
static void speaks(int n) { (void)n; write(-1, "handler", 7); }
static void leave(int n, siginfo_t *i, void *c) { (void)n; (void)i; (void)c; siglongjmp(back, 1); }

static pid_t child(int signal)
{
	pid_t p = fork();
	if (p == 0) {
		raise(signal);
		_exit(3);
	}
	return p;
}

int main(void)
{
	struct sigaction a = {.sa_handler = note}, old;
	sigset_t set, pending;
	siginfo_t info;
	int status;
	struct rusage usage;
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	sigemptyset(&a.sa_mask);
	sigaddset(&a.sa_mask, SIGINT);
	sigaddset(&a.sa_mask, SIGRTMIN + 3);
	a.sa_flags = SA_RESTART | SA_NODEFER;
	sigaction(SIGUSR1, &a, &old);
	sigaction(SIGUSR1, NULL, &old);
	a.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &a, NULL);
	a.sa_handler = note;
	a.sa_flags = SA_RESETHAND;
	sigfillset(&a.sa_mask);
	sigaction(SIGUSR2, &a, NULL);
	sigaction(SIGRTMIN + 1, &a, NULL);
	sigaction(100, &a, NULL);
	kill(getpid(), SIGUSR1);
	raise(SIGUSR2);
	kill(getpid(), 0);
	kill(getpid(), SIGURG);

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 77});
	sigqueue(getpid(), SIGTERM, (union sigval){.sival_ptr = (void *)0x123456789abc});
	sigpending(&pending);
	sigdelset(&set, SIGUSR1);
	sigtimedwait(&set, &info, &(struct timespec){5, 0});
	sigtimedwait(&set, &info, &(struct timespec){5, 500});
	sigtimedwait(&set, &info, &(struct timespec){0, 1000});
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = -2});
	struct signalfd_siginfo got;
	syscall(SYS_read, fd, &got, 4);
	close(fd);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigsuspend(&set);
	sigprocmask(SIG_SETMASK, &set, &set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);

	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536}, was;
	sigaltstack(&stack, &was);
	a.sa_handler = note;
	a.sa_flags = SA_ONSTACK;
	sigaction(SIGALRM, &a, NULL);
	struct itimerval timer = {.it_value = {0, 2000}}, rest;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	sigemptyset(&set);
	sigsuspend(&set);
	a.sa_handler = speaks;
	a.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &a, NULL);
	kill(getpid(), SIGALRM);
	pselect(0, NULL, NULL, NULL, NULL, &set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	getitimer(ITIMER_REAL, &rest);
	alarm(100);
	alarm(0);
	a.sa_flags = SA_SIGINFO | SA_ONSTACK;
	a.sa_sigaction = leave;
	sigaction(SIGSEGV, &a, NULL);
	sigaction(SIGFPE, &a, NULL);
	sigaction(SIGBUS, &a, NULL);
	sigaction(SIGILL, &a, NULL);
	volatile int zero = 0;
	if (sigsetjmp(back, 1) == 0)
		*(volatile int *)16 = 1;
	if (sigsetjmp(back, 1) == 0)
		zero = 1 / zero;
	if (sigsetjmp(back, 1) == 0)
		__asm__("ud2");
	if (sigsetjmp(back, 1) == 0)
		*(volatile int *)0x800000000000000 = 1;
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sigsetjmp(back, 1) == 0)
		*(volatile int *)p = 1;
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);

	waitpid(child(0), &status, 0);
	wait4(child(SIGKILL), &status, 0, &usage);
	pid_t stopped = child(SIGSTOP);
	waitpid(stopped, &status, WUNTRACED);
	kill(stopped, SIGKILL);
	waitpid(stopped, &status, __WALL);
	pid_t ended = child(SIGTERM);
	waitid(P_PID, ended, &info, WEXITED | WNOWAIT);
	waitid(P_ALL, 0, &info, WEXITED);
	waitpid(-1, &status, WNOHANG);
	syscall(SYS_tgkill, getpid(), getpid(), SIGVTALRM);
	return 0;
}
