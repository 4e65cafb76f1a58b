// Dumped: threads that wait while one calls give() with numbers.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

char *secret;
static const char fixed[] = "never written";

__attribute__((noinline)) int give(int n) {
	__asm__ volatile("");
	return n + 1;
}

static void *wait(void *pipe_end) {
	double x = 1.25;
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("movsd %0, %%xmm5" : : "m"(x));
#elif defined(__aarch64__)
	__asm__ volatile("ldr d5, %0" : : "m"(x));
#else
	__asm__ volatile("vldr d5, %0" : : "m"(x));
#endif
	pthread_barrier_wait(pipe_end);
	for (;;)
		__asm__ volatile("" ::: "memory");
	return NULL;
}

int main(void) {
	pthread_t other[2];
	static pthread_barrier_t all;
	pthread_barrier_init(&all, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&other[i], NULL, wait, &all);
	secret = malloc(64);
	strcpy(secret, "in the heap");
	// Reserved and never touched: a core must not take this long, or this much.
	mmap(NULL, 64ul << (sizeof(long) == 8 ? 30 : 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_barrier_wait(&all);
	int sum = 0;
	for (int i = 0; i < 3; i++)
		sum += give(i);
	printf("%d %s\n", sum, fixed);
	return 0;
}
