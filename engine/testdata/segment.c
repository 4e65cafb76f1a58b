/* loads the stack segment, which holds traps back for one instruction: an ordinary one, a breakpoint of its own, a system call */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static volatile long traps;
static volatile unsigned long at;

static void trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	traps += sig == SIGTRAP && info->si_code == SI_KERNEL && !(u->uc_mcontext.gregs[REG_EFL] & 0x100);
	at = u->uc_mcontext.gregs[REG_RIP];
}

__attribute__((noipa)) int segment(int v)
{
	__asm__ volatile("movl %%ss, %%ecx\n\tmovl %%ecx, %%ss\n\taddl $5, %0\n\taddl $6, %0" : "+r"(v) : : "ecx", "cc");
	return v;
}

__attribute__((noipa)) unsigned long trapped(void)
{
	unsigned long behind;
	__asm__ volatile("movl %%ss, %%ecx\n\tmovl %%ecx, %%ss\n\tint3\n1:\tlea 1b(%%rip), %0" : "=r"(behind) : : "rcx", "cc", "memory");
	return behind;
}

__attribute__((noipa)) long called(void)
{
	long v = SYS_getppid;
	__asm__ volatile("movl %%ss, %%ecx\n\tmovl %%ecx, %%ss\n\tsyscall" : "+a"(v) : : "rcx", "r11", "cc", "memory");
	return v;
}

int main(void)
{
	struct sigaction sa;
	int bad = 0;
	memset(&sa, 0, sizeof sa);
	sa.sa_sigaction = trap;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &sa, NULL);
	for (int i = 0; i < 10; i++) {
		bad += segment(i) != i + 11;
		bad += trapped() != at || traps != i + 1;
		bad += called() != getppid();
	}
	printf("segment bad=%d\n", bad);
	return bad;
}
