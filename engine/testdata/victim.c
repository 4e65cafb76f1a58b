/* victim THREADS [timer]: works until it is told to end, checks all it does; also built for 32 bits, and statically */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
#define KEEP __asm__ volatile("" ::: "memory")

static volatile long ticks, stop;
static long bad; static volatile long table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static __thread long own;

FUNC void tick(int sig) { ticks++; (void)sig; }
FUNC long leaf(long i) { KEEP; return i * 2 + 1; }
FUNC long other(long i) { KEEP; return i * 2 + 2; }
static long (*volatile chosen[2])(long) = { leaf, other };
FUNC long stack(long i)
{
	volatile long v[4] = { i, i, i, i };
	v[1]++;
	v[2] += v[1];
	v[3] -= 5;
	return v[0] + v[1] + v[2] + v[3];
}
FUNC long global(long i) { own += table[i & 7]; return own; }
FUNC long recurse(long n) { long r = n <= 0 ? 0 : recurse(n - 1) + n; KEEP; return r; }
FUNC long copies(char *to, const char *from, long n)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
	for (; n; n--)
		*(volatile char *)to++ = *from++;
#endif
	return n;
}
FUNC long counted(long n)
{
	long r = 0;
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("1: add $3, %0; loop 1b" : "+r"(r), "+c"(n) : : "cc");
#elif defined(__arm__)
	__asm__ volatile("1: add %0, #3; subs %1, #1; it ne; bne 1b" : "+l"(r), "+l"(n) : : "cc");
#else
	__asm__ volatile("1: add %0, %0, #3; subs %1, %1, #1; b.ne 1b" : "+r"(r), "+r"(n) : : "cc");
#endif
	return r;
}

/* loads the stack segment, which holds traps back for one instruction */
FUNC long loads(long i)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("mov %%ss, %%ecx\n\tmov %%ecx, %%ss\n\tadd $1, %0" : "+r"(i) : : "ecx", "cc");
	return i;
#else
	return i + 1;
#endif
}

FUNC long mixed(long i)
{
	char from[40], to[40];
	long r = leaf(i) - chosen[i & 1](i) + (i & 1), before = own;
	r += stack(i) - (5 * i - 3);
	r += global(i) - before - table[i & 7];
	r += recurse(5) - 15;
	memset(from, (int)i, sizeof from);
	memset(to, 0, sizeof to);
	r += copies(to, from, sizeof from);
	r += memcmp(to, from, sizeof from) != 0;
	r += counted(4) - 12;
	r += loads(i) - i - 1;
	return r;
}

/* Threads sleep now and then, most of them more than they work: they are met in both, and leave the processor to the
   session that is tested. Where every instruction is probed, they work all the time. */
static void *runner(void *helper)
{
	for (long i = 0; !stop; i++) {
		if (mixed(i & 1023))
			__atomic_add_fetch(&bad, 1, __ATOMIC_SEQ_CST);
		if (!(i & (helper ? 1023 : 8191)))
			usleep(1000);
	}
	return helper;
}

static void *asker(void *unused)
{
	char c;
	while (read(0, &c, 1) < 0)
		bad += 1000000; /* nobody may interrupt it: signals go elsewhere, and ask for restart */
	stop = 1;
	return unused;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = tick, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 500 }, { 0, 500 } };
	pthread_t id[64], in;
	int n = argc > 1 ? atoi(argv[1]) : 0;
	puts("ready");
	fflush(stdout);
	pthread_create(&in, NULL, asker, NULL);
	for (int i = 0; i < n; i++)
		pthread_create(&id[i], NULL, runner, &id[i]);
	if (argc > 2) {
		sigaction(SIGALRM, &sa, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
	}
	runner(NULL);
	long before = ticks, waited = 0;
	for (; argc > 2 && ticks == before && waited < 60000; waited++)
		usleep(1000);
	bad += 1000 * (waited == 60000); /* signals do not come any more */
	for (int i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	pthread_join(in, NULL);
	if (!fork())
		_exit(mixed(3) ? 1 : 9);
	int status = 0;
	wait(&status);
	bad += status != 9 << 8;
	printf("victim bad=%ld\n", bad);
	return bad != 0;
}
