// Calls functions whose first instruction accesses memory: pages that are there, that a handler of SIGSEGV makes
// accessible, that may only be read until it does, and that it jumps away from. Prints how often each has returned. With a
// second argument all pages are there.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FUNCTION(name, code) \
	__asm__(".pushsection .text\n.p2align 4\n.globl " name "\n.type " name ", @function\n" name ":\n" code "\nret\n.size " name ", . - " name "\n.p2align 4\n.popsection")

FUNCTION("loads", "movl (%rdi), %eax\naddl $1, %eax\nnop");
FUNCTION("loads_indexed", "movzbl 4092(%rdi,%rsi,2), %eax\nnop\nnop");
FUNCTION("compares", "cmpq %rsi, 24(%rdi)\nsete %al\nmovzbl %al, %eax");
FUNCTION("pushes", "pushq 16(%rdi)\npopq %rax\nnop\nnop");
FUNCTION("stores", "movl %esi, (%rdi)\nmovl %esi, %eax\nnop");
FUNCTION("stores_constant", "movw $7, 4090(%rdi,%rsi)\nmovl $1, %eax");
FUNCTION("adds", "addq %rsi, 8(%rdi)\nmovl $1, %eax");
FUNCTION("near_stack", "movq %rsi, -64(%rsp)\nmovq -64(%rsp), %rax");

typedef long function(char *, long);
function loads, loads_indexed, compares, pushes, stores, stores_constant, adds, near_stack;
static function *const functions[] = {loads, loads_indexed, compares, pushes, stores, stores_constant, adds, near_stack};
enum { count = sizeof functions / sizeof functions[0], page = 4096 };

static sigjmp_buf away;
static volatile int leaves;
static char *pages;

static void faulted(int sig, siginfo_t *si, void *context)
{
	if (leaves)
		siglongjmp(away, 1);
	mprotect((char *)((unsigned long)si->si_addr & -page), page, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO};
	static const int before[] = {PROT_READ | PROT_WRITE, PROT_NONE, PROT_READ, PROT_NONE};
	long returned[count] = {0};
	int n = atoi(argv[1]);
	sigaction(SIGSEGV, &action, NULL);
	pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < n; i++)
		for (int f = 0; f < count; f++) {
			int kind = argc > 2 ? 0 : i % 4;
			leaves = kind == 3;
			if (argc == 2)
				mprotect(pages + page, page, before[kind]);
			if (argc > 2 || !sigsetjmp(away, 1)) {
				functions[f](pages + page - (functions[f] == loads_indexed || functions[f] == stores_constant ? page : 0), 6);
				returned[f]++;
			}
		}
	for (int f = 0; f < count; f++)
		printf("%ld ", returned[f]);
	printf("\n");
	return 0;
}
