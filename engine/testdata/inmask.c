/* inmask: two threads block all signals and call work, until there is input. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int stop;
static volatile long bad;

__attribute__((noipa)) long work(long n) { return n * 2; }

static void *works(void *unused)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (long n = 0; !stop; n++)
		bad += work(n) != n * 2;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return unused;
}

int main(void)
{
	pthread_t ids[2];
	char c;
	for (int i = 0; i < 2; i++)
		pthread_create(&ids[i], NULL, works, NULL);
	puts("ready");
	fflush(stdout);
	read(0, &c, 1);
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	printf("victim bad=%ld\n", bad);
	return bad != 0;
}
