/* changed N T: T threads call a function N times each, which programs change. It prints what came of it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNC __attribute__((noipa))
#define KEEP __asm__ volatile("" ::: "memory")

FUNC long plus(long i, long *cell, long third, long fourth)
{
	KEEP;
	return 2 * i + *cell + third + fourth;
}

static long calls, sum, signals;

static void note(int sig)
{
	__atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED);
	(void)sig;
}

static void *run(void *arg)
{
	long own = 0;
	for (long i = 0; i < calls; i++) {
		long cell = 0;
		own += plus(i, &cell, 0, 0);
	}
	__atomic_add_fetch(&sum, own, __ATOMIC_RELAXED);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[8];
	int n = argc > 2 ? atoi(argv[2]) : 1;
	calls = atol(argv[1]);
	signal(SIGUSR1, note);
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
	printf("sum %ld signals %ld\n", sum, signals);
	return 0;
}
