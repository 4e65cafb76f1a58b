/* turns N: threads that call a function all the time, until all of them together have called it N times; then how often each did. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 8 };
static volatile long calls[threads];
static long until;
static pthread_barrier_t begin;

__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }

static long all(void)
{
	long sum = 0;
	for (int i = 0; i < threads; i++)
		sum += calls[i];
	return sum;
}

static void *loop(void *of)
{
	pthread_barrier_wait(&begin);
	for (volatile long *own = of; all() < until; ++*own)
		leaf();
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t ids[threads];
	until = atol(argv[1]);
	pthread_barrier_init(&begin, 0, threads);
	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], 0, loop, (void *)&calls[i]);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], 0);
	for (int i = 0; i < threads; i++)
		printf("%ld\n", calls[i]);
}
