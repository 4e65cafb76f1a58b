/* calls N [ms]: calls work(0) … work(N-1), waiting so many milliseconds in between; prints the sum of what it got.
 * With FILE behind it, writes its process number into FILE first; with one more, makes the second half of the calls when there is a file of
 * that name. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noipa)) long work(long i) { return i * 2 + 1; }
__attribute__((noipa)) long fact(long n)
{
	long below = n < 2 ? 1 : fact(n - 1);
	__asm__ volatile("" ::: "memory"); /* keeps the recursion one */
	return n < 2 ? 1 : n * below;
}
__attribute__((noipa)) size_t greet(const char *name) { __asm__ volatile("" ::: "memory"); return strlen(name); }

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10, ms = argc > 2 ? atol(argv[2]) : 0, sum = 0;
	if (argc > 3) {
		FILE *f = fopen(argv[3], "w");
		fprintf(f, "%d\n", getpid());
		fclose(f);
	}
	for (long i = 0; i < n; i++) {
		while (i == n / 2 && argc > 4 && access(argv[4], F_OK) != 0)
			usleep(1000);
		sum += work(i);
		if (ms)
			usleep(ms * 1000);
	}
	sum += fact(5) + greet("gotap");
	printf("sum %ld\n", sum);
	return 0;
}
