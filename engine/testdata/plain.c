/* plain N [THREADS]: nothing that depends on the processor; also built for 32 bits, statically, without symbols */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
static long bad, each;
volatile long cell __attribute__((aligned(64)));

FUNC long work(long i) { cell = i; return i * 2 + 1; }
FUNC long fact(long n) { long r = n <= 1 ? 1 : fact(n - 1); __asm__ volatile("" ::: "memory"); return r * n; }

static void *run(void *unused)
{
	for (long i = 0; i < each; i++)
		bad += work(i) != i * 2 + 1;
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t id[16];
	int threads = argc > 2 ? atoi(argv[2]) : 0, status;
	char text[64];
	each = atol(argv[1]);
	run(NULL);
	for (int i = 0; i < threads; i++)
		pthread_create(&id[i], NULL, run, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	bad += fact(5) != 120;
	if (!fork())
		_exit(work(3) == 7 ? 9 : 1);
	wait(&status);
	bad += status != 9 << 8;
	memset(text, 'x', sizeof text);
	bad += memchr(text, 'y', sizeof text) != NULL;
	printf("plain bad=%ld\n", bad);
	return bad != 0;
}
