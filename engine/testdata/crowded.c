/* crowded around N: reserves all addresses within reach of its own code, and of no other module's.
 * crowded itself N: single-steps itself through the first call of its own function.
 * For each byte that it reads it then calls a function of its own and one of the C library N times, and prints how many results were wrong. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REACH (3ul << 29)

static volatile long seven = 7;

__attribute__((noipa)) long work(long n) { return n * seven; }

static void reserve(uint64_t from, uint64_t to)
{
	if (to > from && mmap((void *)from, to - from, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != (void *)from)
		abort();
}

/* Fills the gaps of the address space around an address. */
static void crowd(uint64_t around)
{
	static struct { uint64_t from, to; } used[1000];
	char line[4096];
	int n = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && n < 1000 && fgets(line, sizeof line, f))
		if (sscanf(line, "%lx-%lx", &used[n].from, &used[n].to) == 2)
			n++;
	fclose(f);
	uint64_t at = around - REACH, end = around + REACH;
	for (int i = 0; i < n && at < end; i++) {
		reserve(at, used[i].from < end ? used[i].from : end);
		at = used[i].to > at ? used[i].to : at;
	}
	reserve(at, end);
}

static volatile long traps;

static void on_trap(int sig) { traps++; }

/* Calls work with the trap flag set. */
static long stepped(long n)
{
	long result;
	signal(SIGTRAP, on_trap);
	__asm__ volatile("lea -256(%%rsp),%%rsp\n pushfq\n orl $0x100,(%%rsp)\n popfq\n call work\n"
			 "pushfq\n andl $~0x100,(%%rsp)\n popfq\n lea 256(%%rsp),%%rsp" : "=a"(result) : "D"(n) : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory");
	return result;
}

int main(int argc, char **argv)
{
	long bad = 0, n = atol(argv[2]), itself = !strcmp(argv[1], "itself");
	if (!itself)
		crowd((uintptr_t)work & -4096ul);
	puts("crowded");
	fflush(stdout);
	while (getchar() != EOF) {
		if (itself)
			bad += stepped(3) != 21 || traps < 3;
		itself = 0;
		for (long i = 0; i < n; i++) {
			bad += work(i) != i * 7;
			bad += rand() < 0;
		}
		printf("crowded bad=%ld\n", bad);
		fflush(stdout);
	}
	return 0;
}
