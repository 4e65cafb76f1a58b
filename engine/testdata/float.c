/* float N: N times, x87 instructions whose addresses the program reads back in all the ways there are. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define FUNC __attribute__((noipa))
static long bad, handled;
static double zero;
static unsigned short unmasked = 0x37f & ~4; /* a division by zero is pending behind the instruction */
static unsigned env[7], saved[27], fx[128] __attribute__((aligned(16)));

#ifdef __x86_64__
#define OPERAND "zero(%%rip)"
#define FIP(context) ((unsigned)(context)->uc_mcontext.fpregs->rip)
#define STATUS(context) (context)->uc_mcontext.fpregs->swd
#else
#define OPERAND "%1"
#define FIP(context) ((unsigned)(context)->uc_mcontext.fpregs->ipoff)
#define STATUS(context) (context)->uc_mcontext.fpregs->sw
#endif
#define BEFORE "fninit\n fldcw %2\n fld1\n"
#define AFTER "fnclex\n fninit\n"
#define DIVIDE(label, store, to) \
	extern char label[]; \
	__asm__ volatile(BEFORE ".globl " #label "\n" #label ": fdivl " OPERAND "\n" store " %0\n" AFTER : "=m"(to) : "m"(zero), "m"(unmasked)); \
	same(#label, label

static void same(const char *what, const char *label, unsigned fip)
{
	if (fip == (unsigned)(unsigned long)label)
		return;
	if (!bad++)
		printf("%s: %#x, not %p\n", what, fip, (void *)label);
}

FUNC void by_fnstenv(void) { DIVIDE(in_env, "fnstenv", env), env[3]); }
FUNC void by_fnsave(void) { DIVIDE(in_saved, "fnsave", saved), saved[3]); }
FUNC void by_fxsave(void) { DIVIDE(in_fx, "fxsave", fx), fx[2]); }
extern char in_frame[];

/* the exception is raised by the instruction behind */
FUNC void by_signal(void)
{
	__asm__ volatile(BEFORE ".globl in_frame\nin_frame: fdivl " OPERAND "\n fwait\n" AFTER : "+m"(env) : "m"(zero), "m"(unmasked));
}

static void on_fpe(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	same("in_frame", in_frame, FIP(c));
	STATUS(c) &= ~0x80ff;
	handled++;
}

/* Without an exception some processors forget the address whenever another thread has its turn. */
FUNC void by_masked(void)
{
	extern char masked[];
	__asm__ volatile("fninit\n fldz\n.globl masked\nmasked: fld1\n fnstenv %0\n fninit" : "=m"(env));
	if (env[3] != 0)
		same("masked", masked, env[3]);
}

#ifdef __x86_64__
/* a step changes what was read before it */
extern double twice(double);
__asm__(".text\n.globl twice\n.type twice,@function\ntwice: addsd %xmm0,%xmm0\n ret\n.size twice,.-twice\n");
#else
static double twice(double v) { return 2 * v; }
#endif

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10;
	struct sigaction act = { .sa_sigaction = on_fpe, .sa_flags = SA_SIGINFO };
	sigaction(SIGFPE, &act, NULL);
	for (long i = 0; i < n; i++) {
		by_fnstenv();
		by_fnsave();
		by_fxsave();
		by_signal();
		by_masked();
	}
	bad += twice(1) != 2;
	printf("float bad=%ld\n", bad + (handled != n));
	return 0;
}
