/* vforker: waits for SIGUSR1 in a call that must not be interrupted, has a child that shares its memory call work, and calls it itself. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int number;
__attribute__((noipa)) void work(int n) { number += n; }
int main(void)
{
	sigset_t set;
	int got;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	puts("waiting");
	fflush(stdout);
	while ((got = sigwaitinfo(&set, NULL)) != SIGUSR1)
		printf("the call was interrupted: %d\n", got);
	pid_t child = vfork();
	if (child == 0) {
		work(1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	work(2);
	sigwaitinfo(&set, NULL);
	work(4);
	printf("number %d\n", number);
	return 0;
}
