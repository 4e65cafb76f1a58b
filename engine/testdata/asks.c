/* asks: a thread reads its action for SIGTRAP all the time, and sets it again, until there is input. Prints how often it was not its own. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int stop;
static volatile long rounds;
static long bad;

__attribute__((noipa)) long work(long n) { return n * 2; }

static void *asks(void *unused)
{
	for (; !stop; rounds++) {
		struct sigaction now;
		memset(&now, 0x55, sizeof now);
		sigaction(SIGTRAP, NULL, &now);
		bad += now.sa_handler != SIG_IGN || (now.sa_flags & ~0x04000000 /* SA_RESTORER */) != SA_RESTART;
		if (rounds % 3 == 0)
			sigaction(SIGTRAP, &now, NULL);
		work(rounds);
	}
	return unused;
}

int main(void)
{
	struct sigaction own = { .sa_handler = SIG_IGN, .sa_flags = SA_RESTART };
	pthread_t id;
	char c;
	sigaction(SIGTRAP, &own, NULL);
	pthread_create(&id, NULL, asks, NULL);
	while (rounds < 100)
		;
	puts("ready");
	fflush(stdout);
	read(0, &c, 1);
	stop = 1;
	pthread_join(id, NULL);
	raise(SIGTRAP);
	printf("victim bad=%ld\n", bad);
	return 0;
}
