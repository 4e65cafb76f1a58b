// callmix SEED N: functions that call and continue in each other, and that longjmp and exceptions leave, at random. It prints for
// each function how often it was called, how often it returned, and the sums of the arguments and of the results of the
// calls that returned. A call that continues in another function returns when that does.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#define FUNC __attribute__((noipa))

enum { functions = 5, deepest = 40 };

struct Called { int function; long arg; };
struct Counts { long calls, returns, args, results; };
struct Thrown { long n; };

static Counts counts[functions];
static Called calls[4096]; // in progress
static jmp_buf marks[64];
static long inProgress, marked, depth, fuel;
static unsigned long state;

static unsigned long some(unsigned long n)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (state >> 33) % n;
}

static void begins(int function, long arg)
{
	counts[function].calls++;
	calls[inProgress++] = Called{ function, arg };
}

static void returned(long since, long result)
{
	while (inProgress > since) {
		Called *c = &calls[--inProgress];
		counts[c->function].returns++;
		counts[c->function].args += c->arg;
		counts[c->function].results += result;
	}
}

FUNC static long any(long n);

// inside is what a function does: some calls, perhaps an end without a return.
FUNC static long inside(long n)
{
	long sum = n;
	for (unsigned long c = some(4); c > 0 && depth < deepest && fuel > 0; c--)
		sum += any(sum % 1000);
	return sum;
}

FUNC static long f4(long n)
{
	begins(4, n);
	if (some(8) == 0 && marked)
		longjmp(marks[some(marked)], 1);
	return n + 4;
}

FUNC static long f3(long n)
{
	begins(3, n);
	if (some(5) == 0)
		return f4(n + 1);
	if (some(7) == 0)
		throw Thrown{ n };
	return inside(n) + 3;
}

FUNC static long f2(long n)
{
	begins(2, n);
	if (some(9) == 0)
		throw Thrown{ n };
	return n * 2;
}

FUNC static long f1(long n)
{
	begins(1, n);
	switch (some(6)) {
	case 0:
		return f2(n + 2);
	case 1:
		return f3(n + 3);
	}
	return inside(n) + 1;
}

FUNC static long f0(long n)
{
	begins(0, n);
	long sum = inside(n);
	if (some(3) == 0)
		return f1(sum % 1000);
	return sum;
}

FUNC static long call(long n)
{
	switch (some(functions)) {
	case 0:
		return f0(n) + 1;
	case 1:
		return f1(n) + 1;
	case 2:
		return f2(n) + 1;
	case 3:
		return f3(n) + 1;
	}
	return f4(n) + 1;
}

// any calls one of the functions, and sometimes is where longjmp or an exception leads.
FUNC static long any(long n)
{
	volatile long since = inProgress, deep = depth++, before = marked;
	long result = -1;
	fuel--;
	switch (some(4)) {
	case 0:
		try {
			result = call(n);
			returned(since, result - 1);
		} catch (const Thrown &thrown) {
			inProgress = since, result = thrown.n;
		}
		break;
	case 1:
		if (marked < 64 && setjmp(marks[marked]) == 0) {
			marked++;
			result = call(n);
			returned(since, result - 1);
		}
		inProgress = since;
		break;
	default:
		result = call(n);
		returned(since, result - 1);
	}
	depth = deep, marked = before;
	return result;
}

int main(int argc, char **argv)
{
	state = strtoul(argv[1], nullptr, 10);
	for (long i = 0; i < atol(argv[2]); i++) {
		fuel = 300, depth = inProgress = marked = 0;
		try {
			any(i);
		} catch (const Thrown &) {
		}
	}
	(void)argc;
	for (int i = 0; i < functions; i++)
		printf("f%d %ld %ld %ld %ld\n", i, counts[i].calls, counts[i].returns, counts[i].args, counts[i].results);
}
