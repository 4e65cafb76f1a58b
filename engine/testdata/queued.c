/* queued: sends itself signals with values, one after another, until its input ends, and looks at each */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int count, bad;

__attribute__((noipa)) void work(void) { __asm__ volatile("" ::: "memory"); }

static void handler(int sig, siginfo_t *si, void *context)
{
	bad += si->si_code != SI_QUEUE || si->si_value.sival_int != count || si->si_pid != getpid();
	count++;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	char c;
	sigaction(SIGRTMIN, &sa, NULL);
	fcntl(0, F_SETFL, O_NONBLOCK);
	printf("queued\n");
	fflush(stdout);
	for (int i = 0; i % 64 || read(0, &c, 1) < 0; i++) {
		work();
		sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = i });
		bad += count != i + 1;
	}
	printf("queued bad=%d\n", bad);
	return bad != 0;
}
