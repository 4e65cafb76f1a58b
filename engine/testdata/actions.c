/* actions: from the first byte of its input to the second, sets its action for SIGTRAP, and checks that each is in force and that the one before is returned. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))

static volatile int caught;
static long bad;

static void first(int sig) { caught = 1; (void)sig; }
static void second(int sig, siginfo_t *info, void *context) { caught = 2; bad += info->si_signo != sig; (void)context; }

FUNC long work(long i) { __asm__ volatile("" ::: "memory"); return i * 2 + 1; }

/* raised returns which handler gets a SIGTRAP */
static int raised(void)
{
	caught = 0;
	raise(SIGTRAP);
	return caught;
}

int main(void)
{
	struct sigaction to[2], old, mine;
	struct pollfd in = { 0, POLLIN, 0 };
	char c;
	memset(to, 0, sizeof to);
	to[0].sa_handler = first;
	to[0].sa_flags = SA_RESTART;
	to[1].sa_sigaction = second;
	to[1].sa_flags = SA_SIGINFO | SA_NODEFER;
	sigaddset(&to[1].sa_mask, SIGUSR1);
	sigaction(SIGTRAP, &to[1], NULL);
	puts("ready");
	fflush(stdout);
	read(0, &c, 1);
	for (int i = 0; poll(&in, 1, 0) == 0; i ^= 1) {
		bad += work(i) != i * 2 + 1;
		memset(&old, 0x55, sizeof old);
		bad += (sigaction(SIGTRAP, &to[i], &old) != 0) << 1;
		bad += (raised() != i + 1) << 4;
		bad += (sigaction(SIGTRAP, &old, &mine) != 0) << 2; /* the handler before */
		bad += (raised() != 2 - i) << 8;
		bad += (sigaction(SIGTRAP, &mine, NULL) != 0) << 3;
		bad += (raised() != i + 1) << 12;
	}
	printf("victim bad=%ld\n", bad);
	return bad != 0;
}
