/* killed N: N children work until they are killed in the middle of it. Then the parent waits, and works once. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) long work(long i) { __asm__ volatile("" ::: "memory"); return i * 2 + 1; }

int main(int argc, char **argv)
{
	long n = atol(argv[1]), bad = argc != 2;
	for (long r = 0; r < n; r++) {
		int status, works[2];
		char byte = 0;
		bad += pipe(works) != 0;
		pid_t pid = fork();
		if (!pid)
			for (long i = 0;; i++) {
				work(r);
				if (i == 10)
					bad += write(works[1], &byte, 1) != 1;
			}
		bad += read(works[0], &byte, 1) != 1;
		close(works[0]);
		close(works[1]);
		usleep(3000 + r * 100);
		kill(pid, SIGKILL);
		bad += waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status);
	}
	sleep(1);
	bad += work(n) != n * 2 + 1;
	printf("bad=%ld\n", bad);
	return bad != 0;
}
