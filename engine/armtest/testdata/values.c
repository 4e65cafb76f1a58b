/* values: calls functions with arguments of every kind that calling conventions tell apart, and does what probes of other kinds look at. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNC __attribute__((noinline))
#define KEEP __asm__ volatile("" ::: "memory")

struct point { int x; long y; char name[12]; double w; struct point *next; };
struct pair { long a, b; };
struct floats { float a, b, c; };
struct large { int n; char name[12]; long v[3]; };
enum colour { RED, GREEN = 5, BLUE = -3 };
struct half { short s; unsigned char low : 3, high : 5; };
struct thing { int id; const char *name; enum colour colour; struct half in[2]; double d; long long ll; union { int i; float f; } u; char tag[6]; };

volatile int watched;
struct thing thing = {1, "one", GREEN, {{-1, 5, 17}, {2, 1, 3}}, 0.25, -5000000000LL, {.f = 1.0f}, "tagge"};
_Atomic int tally;
volatile int state;

FUNC long ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	KEEP;
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

FUNC double mix(double a, float b, int n) { KEEP; return a * b + n; }

FUNC double nine(double a, double b, double c, double d, double e, double f, double g, double h, double i)
{
	KEEP;
	return a + b + c + d + e + f + g + h + 2 * i;
}

FUNC uint64_t wide(int pad, uint64_t v, int z) { KEEP; return v ^ (uint64_t)z ^ pad; }
FUNC long by_pointer(struct point *p) { KEEP; return p->x + p->y + p->next->x; }
FUNC long by_value(struct pair v) { KEEP; return v.a - v.b; }
FUNC struct large large(int n) { KEEP; return (struct large){n + 1, "name", {0, 0, -n - 2}}; }
FUNC float homogeneous(struct floats h, int k) { KEEP; return h.a + h.b + h.c + k; }
FUNC int leaf(int n) { KEEP; return n * 3; }
FUNC int middle(int n) { int r = leaf(n) + 1; KEEP; return r; }
FUNC int outer(int n) { int r = middle(n + 1) + 2; KEEP; return r; }
FUNC int compare(const void *a, const void *b) { KEEP; return *(int *)a - *(int *)b; }
FUNC void store(int v) { watched = v; KEEP; }
FUNC int fetch(void) { int v = watched; KEEP; return v; }

FUNC int failing(int e) { errno = e; KEEP; return -1; }
FUNC enum colour paint(int n) { KEEP; return n ? BLUE : GREEN; }
FUNC long long halved(long long v) { KEEP; return v / 2; }

FUNC int tallies(int n)
{
	for (int i = 0; i < n; i++)
		tally += i;
	return tally;
}

/* A jump through a table. */
FUNC int choose(int n)
{
	switch (n) {
	case 0: KEEP; state += 11; return 11;
	case 1: KEEP; state -= 7; return 7;
	case 2: KEEP; state ^= 93; return 93;
	case 3: KEEP; state |= 4; return 4;
	case 4: KEEP; state *= 55; return 55;
	case 5: KEEP; state &= 6; return 6;
	case 6: KEEP; state <<= 1; return 17;
	case 7: KEEP; state = -state; return 8;
	}
	return -1;
}

FUNC int mark(int a, const char *s, long c)
{
	DTRACE_PROBE3(values, mark, a, s, c);
	KEEP;
	return a;
}

static void *thread(void *p)
{
	long sum = 0;
	for (int i = 0; i < 50; i++)
		sum += leaf(i + 1000);
	return (void *)sum;
}

int main(void)
{
	struct point second = {-7, 70, "second", 0.25, 0}, first = {5, -99, "first", 2.5, &second};
	int v[8] = {5, 3, 8, 1, 9, 2, 7, 4};
	pthread_t t[2];
	int status;

	for (int i = 0; i < 9; i++)
		choose(i);
	failing(2);
	paint(1);
	halved(-10000000000LL);
	tallies(100);
	ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	mix(1.5, 2.25f, 7);
	nine(1, 2, 3, 4, 5, 6, 7, 8, 9.5);
	wide(3, 0x123456789abcdef0ull, 1);
	by_pointer(&first);
	by_value((struct pair){44, 2});
	homogeneous((struct floats){1.5f, 2, 3}, 4);
	large(6);
	outer(0);
	mark(40, "marked", -5);
	qsort(v, 8, sizeof *v, compare);
	for (int i = 0; i < 3; i++)
		store(i + 10);
	for (int i = 0; i < 2; i++)
		fetch();
	close(open("/etc/none", O_RDONLY));
	for (int i = 0; i < 2; i++)
		pthread_create(t + i, 0, thread, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		leaf(77);
		_exit(3);
	}
	waitpid(child, &status, 0);
	printf("values ended %d\n", WEXITSTATUS(status));
	return 0;
}
