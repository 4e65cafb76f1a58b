/* Functions that are shorter than a jump of five bytes, one behind the other, with padding behind the last.
   short calls N [timer]: three threads make N rounds each; with timer, signals interrupt them 10,000 times a second
   short spin N:          N threads make rounds until standard input has something; SIGUSR1 holds them in its handler until SIGUSR2 comes
   short processes N:     N children, each forked while another thread makes rounds, make 100 rounds
   Each round calls each function once. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

void empty(void);
long wide(long); /* not so short: its first three instructions are those that a jump replaces */
long same(long), next(long), both(long), zero(long), twice(long), room(long);
__asm__(".text\n.p2align 4\n"
	".globl same\n.type same,@function\nsame: mov %edi,%eax\nret\n.size same,.-same\n"
	".globl next\n.type next,@function\nnext: lea 1(%rdi),%eax\nret\n.size next,.-next\n"
	".globl both\n.type both,@function\nboth: push %rdi\npop %rax\nret\n.size both,.-both\n"
	".globl zero\n.type zero,@function\nzero: xor %eax,%eax\nret\n.size zero,.-zero\n"
	".globl twice\n.type twice,@function\ntwice: lea (%rdi,%rdi),%eax\n1: dec %eax\njs 1b\ninc %eax\nret\n.size twice,.-twice\n"
	".nops 40\n.p2align 4\n"
	".globl room\n.type room,@function\nroom: lea 2(%rdi),%eax\nret\n.size room,.-room\n"
	".nops 20\n.p2align 4\n"
	".globl wide\n.type wide,@function\nwide: mov %edi,%eax\ninc %eax\ndec %eax\nlea 0x12345(%rax),%eax\nsub $0x12345,%eax\nret\n.size wide,.-wide\n"
	".globl empty\n.type empty,@function\nempty: ret\n.size empty,.-empty\n"
	".nops 20\n.p2align 4\n");

static volatile long bad, ticks;
static volatile int endless;

static void round_of(long i)
{
	empty();
	if (wide(i) != i || same(i) != i || next(i) != i + 1 || both(i) != i || zero(i) != 0 || twice(i + 1) != 2 * (i + 1) || room(i) != i + 2)
		__atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
}

static void *rounds(void *n)
{
	for (long i = 0; endless || i < (long)n; i++)
		round_of(i & 0xffff);
	return NULL;
}

static void tick(int sig)
{
	ticks++;
	round_of(sig);
}

static volatile int released;
static void hold(int sig)
{
	while (!released)
		usleep(1000);
}
static void release(int sig) { released = 1; }

int main(int argc, char **argv)
{
	const char *mode = argv[1];
	long n = atol(argv[2]);
	pthread_t id[16];
	if (!strcmp(mode, "spin")) {
		char c;
		endless = 1;
		struct sigaction held = { .sa_handler = hold, .sa_flags = SA_RESTART }, again = { .sa_handler = release, .sa_flags = SA_RESTART };
		sigaction(SIGUSR1, &held, NULL);
		sigaction(SIGUSR2, &again, NULL);
		for (long i = 0; i < n; i++)
			pthread_create(&id[i], NULL, rounds, NULL);
		puts("ready");
		fflush(stdout);
		bad += read(0, &c, 1) < 0;
		printf("spin bad=%ld\n", bad);
		fflush(stdout);
		_exit(bad != 0);
	} else if (!strcmp(mode, "calls")) {
		struct itimerval every = { { 0, 100 }, { 0, 100 } }, none = { { 0, 0 }, { 0, 0 } };
		struct sigaction act = { .sa_handler = tick, .sa_flags = SA_RESTART };
		sigaction(SIGPROF, &act, NULL);
		if (argc > 3)
			setitimer(ITIMER_PROF, &every, NULL);
		for (int i = 0; i < 3; i++)
			pthread_create(&id[i], NULL, rounds, (void *)n);
		for (int i = 0; i < 3; i++)
			pthread_join(id[i], NULL);
		setitimer(ITIMER_PROF, &none, NULL);
		n = 3 * n + ticks;
	} else {
		pthread_create(&id[0], NULL, rounds, (void *)(100 * n));
		for (long i = 0; i < n; i++) {
			int status;
			pid_t pid = fork();
			if (!pid) {
				rounds((void *)100);
				_exit(bad != 0);
			}
			bad += waitpid(pid, &status, 0) != pid || status;
		}
		pthread_join(id[0], NULL);
		n *= 200;
	}
	printf("rounds=%ld bad=%ld\n", n, bad);
	return bad != 0;
}
