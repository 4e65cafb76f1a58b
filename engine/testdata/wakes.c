/* wakes: [ignores]: at each byte of input but x, the first thread reads its action for SIGTRAP and says whether it is its own. At x it sets what it read last, and raises the signal. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

static volatile int trapped;
static int input;

__attribute__((noipa)) long work(long n) { return n * 2; }

static void on_trap(int sig) { trapped += sig == SIGTRAP; }

static void *works(void *unused)
{
	for (long n = 0;; n++)
		work(n);
	return unused;
}

/* sleeps in a call that would not go on exactly if it were interrupted */
static int next(void)
{
	struct epoll_event event;
	char c;
	while (epoll_wait(input, &event, 1, 1000000000) != 1)
		;
	return read(0, &c, 1) == 1 ? c : 'x';
}

int main(int argc, char **argv)
{
	struct sigaction own = { .sa_handler = argc > 1 && *argv[1] == 'i' ? SIG_IGN : on_trap, .sa_flags = SA_RESTART }, seen;
	struct epoll_event event = { .events = EPOLLIN };
	pthread_t id;
	input = epoll_create1(0);
	epoll_ctl(input, EPOLL_CTL_ADD, 0, &event);
	sigaction(SIGTRAP, &own, NULL);
	pthread_create(&id, NULL, works, NULL);
	puts("ready");
	fflush(stdout);
	while (next() != 'x') {
		sigaction(SIGTRAP, NULL, &seen);
		write(1, seen.sa_handler == own.sa_handler ? "o\n" : "x\n", 2);
	}
	sigaction(SIGTRAP, &seen, NULL);
	raise(SIGTRAP);
	printf("victim bad=%d\n", trapped != (own.sa_handler == on_trap));
	return 0;
}
