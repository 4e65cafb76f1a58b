/* unblock: threads that raise a signal while they block it, and find that it has come when they have unblocked it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#define ROUNDS 60

static __thread volatile int got;
static int bad;

static void on(int sig)
{
	got++;
}

__attribute__((noinline)) int one(int round)
{
	__asm__ volatile("");
	return round;
}

static void *rounds(void *arg)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	for (int i = 0; i < ROUNDS; i++) {
		sigprocmask(SIG_BLOCK, &set, &old);
		raise(SIGUSR1);
		if (got != one(i))
			__sync_fetch_and_add(&bad, 1);
		sigprocmask(SIG_SETMASK, &old, 0);
		if (got != i + 1)
			__sync_fetch_and_add(&bad, 1);
	}
	return arg;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on };
	pthread_t t[3];

	sigaction(SIGUSR1, &sa, 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, rounds, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	printf("unblock bad=%d\n", bad);
	return 0;
}
