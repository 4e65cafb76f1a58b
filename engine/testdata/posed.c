// A thread whose own data begin with the address of those of the first thread. It uses no thread-local variables.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) long work(long n)
{
	__asm__ volatile("" ::: "memory");
	return n * 2 + 1;
}

static volatile long bad, done;

static int poser(void *unused)
{
	for (int i = 0; i < 1000; i++)
		bad += work(2) != 5;
	done = 1;
	return unused != 0;
}

int main(void)
{
	enum { STACK = 64 << 10 };
	static long data[64] __attribute__((aligned(64)));
	char *stack = malloc(STACK);
	for (int i = 0; i < 1000; i++)
		bad += work(1) != 3;
	__asm__("mov %%fs:0, %0" : "=r"(data[0]));
	bad += clone(poser, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS, NULL, NULL, data, NULL) < 0;
	while (!done)
		sched_yield();
	printf("bad=%ld\n", bad);
	return bad != 0;
}
