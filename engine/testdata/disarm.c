/* disarm ROUNDS: has a fast timer while it works, stops it, and takes its handler away by a system call of its own. A signal that comes later ends
   the program. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
long number;
__attribute__((noipa)) void work(int n) { number += n; }
__attribute__((noipa)) void on_tick(int sig) { number += sig; }
int main(int argc, char **argv)
{
	struct itimerval fast = {{0, 300}, {0, 300}}, none = {{0}};
	unsigned long none_there[8] = {0};
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
		signal(SIGALRM, on_tick);
		setitimer(ITIMER_REAL, &fast, NULL);
		for (int n = 0; n < 20; n++)
			work(n);
		setitimer(ITIMER_REAL, &none, NULL);
		syscall(SYS_rt_sigaction, SIGALRM, none_there, NULL, 8);
		for (volatile int n = 0; n < 300000; n++)
			;
	}
	puts("disarmed");
	return 0;
}
