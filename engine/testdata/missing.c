/* Blocks all signals and has the mask from before written to a page that is not in memory yet; prints whether SIGTRAP is blocked then. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

__attribute__((noipa)) long work(long n) { return n * 2; }

int main(void)
{
	sigset_t full, *before = mmap(0, sizeof full, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long set = 0;
	char line[256];
	work(1);
	sigfillset(&full);
	sigprocmask(SIG_SETMASK, &full, before);
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "SigBlk: %lx", &set);
	printf("%s %s\n", set >> (SIGUSR1 - 1) & 1 ? "blocked" : "none", set >> (SIGTRAP - 1) & 1 ? "blocked" : "open");
	return 0;
}
