// Threads that do nothing but call functions.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) long inner(long x) { __asm__ volatile(""); return x * 3; }
__attribute__((noinline)) long outer(long x) { return inner(x) + 1; }

__attribute__((noinline)) void *run(void *p) {
	for (long s = (long)p;;) s = outer(s);
	return p;
}

int main(int argc, char **argv) {
	pthread_t t;
	int n = argc > 2 ? atoi(argv[2]) : 4;
	for (int i = 1; i < n; i++) pthread_create(&t, 0, run, 0);
	puts("running");
	fflush(stdout);
	run(0);
}
