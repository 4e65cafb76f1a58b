#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A small program that does a little of everything that samples look at.
int stock = 3;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) int check(int n) {
	if (n > stock)
		return -1;
	return 0;
}

__attribute__((noinline)) int order(int n) {
	int bad = check(n);
	if (bad)
		return -1;
	stock -= n;
	return stock;
}

__attribute__((noinline)) void *keep(int size) {
	char *p = malloc(size);
	memset(p, 1, size);
	return p;
}

// Two customers, of which each waits for the other: who is inside stays until the other is at the door, or has gone for good.
static volatile int outside[2];

static void *customer(void *arg) {
	volatile int *me = &outside[(long)arg], *other = &outside[1 - (long)arg];
	for (int i = 0; i < 5; i++) {
		*me = 1;
		pthread_mutex_lock(&door);
		*me = 0;
		while (!*other)
			sched_yield();
		usleep(5000);
		pthread_mutex_unlock(&door);
	}
	*me = 1;
	return arg;
}

int main(int argc, char **argv) {
	pthread_t a, b;
	void *kept[3];
	printf("%d\n", order(2));
	printf("%d\n", order(5));
	for (int i = 0; i < 3; i++)
		kept[i] = keep(1000 * (i + 1));
	free(kept[1]);
	pthread_create(&a, 0, customer, 0);
	pthread_create(&b, 0, customer, (void *)1);
	pthread_join(a, 0);
	pthread_join(b, 0);
	usleep(20000);
	if (argc > 1 && strcmp(argv[1], "crash") == 0) {
		free(kept[0]);
		free(kept[0]);
		abort();
	}
	return fopen("/nonexistent", "r") != 0;
}
