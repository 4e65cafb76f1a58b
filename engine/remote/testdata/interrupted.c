// System calls that signals interrupt: reads that fail with EINTR, reads that are made again, and sleeps whose rest is slept.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int ends[2], again;

static void on_alarm(int sig)
{
	getppid();
	if (again)
		write(ends[1], "x", 1);
}

static void soon(void)
{
	struct itimerval in = { .it_value = { .tv_usec = 30000 } };

	setitimer(ITIMER_REAL, &in, NULL);
}

int main(void)
{
	int bad = pipe(ends) != 0;

	for (int i = 0; i < 6; i++) {
		struct sigaction act = { .sa_handler = on_alarm };
		char c;

		again = i % 2;
		act.sa_flags = again ? SA_RESTART : 0;
		sigaction(SIGALRM, &act, NULL);
		soon();
		bad += read(ends[0], &c, 1) != (again ? 1 : -1);
	}
	signal(SIGALRM, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		struct timespec time = { .tv_nsec = 90000000 };

		soon();
		bad += nanosleep(&time, NULL) != 0;
	}
	printf("bad=%d\n", bad);
	return 0;
}
