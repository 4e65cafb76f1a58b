/* firstgone THREADS: the first thread ends, others go on: one answers each byte of input with what it works out, the rest wait with it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noipa)) int work(int v)
{
	return v * 2 + 1;
}

static void *pauses(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *rest(void *unused)
{
	unsigned char c;
	while (read(0, &c, 1) > 0) {
		printf("%d\n", work(c));
		fflush(stdout);
	}
	exit(7);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t t;
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		pthread_create(&t, NULL, pauses, NULL);
	pthread_create(&t, NULL, rest, NULL);
	pthread_exit(NULL);
}
