/* storm THREADS: THREADS threads call a thousand functions in turn until standard input says or ends; all results are checked */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
#define KEEP __asm__ volatile("" ::: "memory")
#define F(n) FUNC long f_##n(long i) { KEEP; return i * 3 + 1##n; }
#define T(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define H(n) T(n##0) T(n##1) T(n##2) T(n##3) T(n##4) T(n##5) T(n##6) T(n##7) T(n##8) T(n##9)
#define ALL H(0) H(1) H(2) H(3) H(4) H(5) H(6) H(7) H(8) H(9)
ALL
#undef F
#define F(n) f_##n,
static long (*const all[])(long) = { ALL };

static volatile long stop, bad;

static void *runner(void *start)
{
	for (long i = (long)start; !stop; i++)
		if (all[i % 1000](i) != i * 3 + 1000 + i % 1000)
			__atomic_add_fetch(&bad, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id[64];
	char c;
	long n = argc > 1 ? atol(argv[1]) : 1;
	for (long i = 0; i < n; i++)
		pthread_create(&id[i], NULL, runner, (void *)(i * 17));
	puts("storm");
	fflush(stdout);
	(void)!read(0, &c, 1);
	stop = 1;
	for (long i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	printf("storm bad=%ld\n", bad);
	return bad != 0;
}
