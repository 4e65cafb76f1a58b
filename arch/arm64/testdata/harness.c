// Runs single A64 instructions on a processor, real or emulated, from given states, and tells the states they leave.
//
// Standard input is a sequence of records, standard output one answer for each. All numbers are little-endian.
//
// A record: u32 instruction, u32 windows, struct registers, then the windows: u64 address, u64 length, bytes (padded to 8).
// An answer: u32 signal, u32 differences, u64 fault address, struct registers, then the differences: u64 address, u64 new word.
//
// The instruction lies at CODE + 0x1000 in a region full of brk; the signal of an instruction that has run and gone on to the brk
// behind it, or to another one of the region, is SIGTRAP. Memory is the arena, whose word i holds pattern(i) where no window says
// otherwise. States are loaded by returning from a signal handler: the kernel then sets every register at once.

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define CODE 0x10000000ul
#define CODE_SIZE 0x4000ul
#define PC (CODE + 0x1000)
#define ARENA 0x20000000ul
#define ARENA_SIZE 0x4000ul
#define BRK 0xd4200020u

struct registers {
	uint64_t x[31], sp, pc, pstate, v[32][2], fpcr, fpsr;
};

static uint64_t before[ARENA_SIZE / 8];
static uint64_t original[ARENA_SIZE / 8];

static uint64_t pattern(uint64_t i)
{
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ul;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
	return z ^ (z >> 27);
}

static int get(void *p, size_t n)
{
	return fread(p, 1, n, stdin) == n;
}

static void put(const void *p, size_t n)
{
	if (fwrite(p, 1, n, stdout) != n)
		exit(2);
}

// The floating-point part of a signal frame. Other records may stand in front of it.
static struct fpsimd_context *vectors(ucontext_t *uc)
{
	struct _aarch64_ctx *c = (void *)uc->uc_mcontext.__reserved;
	while (c->magic && c->magic != FPSIMD_MAGIC)
		c = (void *)((char *)c + c->size);
	if (!c->magic)
		exit(3);
	return (void *)c;
}

static void answer(int sig, siginfo_t *si, ucontext_t *uc)
{
	struct registers r;
	struct fpsimd_context *f = vectors(uc);
	uint32_t head[2] = {sig, 0};
	uint64_t fault = (uint64_t)si->si_addr;
	memcpy(r.x, uc->uc_mcontext.regs, sizeof r.x);
	r.sp = uc->uc_mcontext.sp;
	r.pc = uc->uc_mcontext.pc;
	r.pstate = uc->uc_mcontext.pstate;
	memcpy(r.v, f->vregs, sizeof r.v);
	r.fpcr = f->fpcr;
	r.fpsr = f->fpsr;
	uint64_t *arena = (uint64_t *)ARENA;
	for (size_t i = 0; i < ARENA_SIZE / 8; i++)
		head[1] += arena[i] != before[i];
	put(head, sizeof head);
	put(&fault, sizeof fault);
	put(&r, sizeof r);
	for (size_t i = 0; head[1] && i < ARENA_SIZE / 8; i++)
		if (arena[i] != before[i]) {
			uint64_t d[2] = {ARENA + 8 * i, arena[i]};
			put(d, sizeof d);
		}
}

// Loads the next record into the frame. At the end of the input the program ends.
static void next(ucontext_t *uc)
{
	struct registers r;
	struct fpsimd_context *f = vectors(uc);
	uint32_t head[2];
	if (!get(head, sizeof head)) {
		fflush(stdout);
		_exit(0);
	}
	if (!get(&r, sizeof r))
		exit(4);
	memcpy((void *)ARENA, original, ARENA_SIZE);
	for (uint32_t i = 0; i < head[1]; i++) {
		uint64_t at[2];
		if (!get(at, sizeof at) || !get((void *)at[0], (at[1] + 7) & -8ul))
			exit(5);
	}
	memcpy(before, (void *)ARENA, ARENA_SIZE);
	if (*(uint32_t *)PC != head[0]) {
		*(uint32_t *)PC = head[0];
		__builtin___clear_cache((char *)PC, (char *)PC + 4);
	}
	memcpy(uc->uc_mcontext.regs, r.x, sizeof r.x);
	uc->uc_mcontext.sp = r.sp;
	uc->uc_mcontext.pc = PC;
	uc->uc_mcontext.pstate = r.pstate;
	memcpy(f->vregs, r.v, sizeof r.v);
	f->fpcr = r.fpcr;
	f->fpsr = r.fpsr;
}

static int started;

static void handler(int sig, siginfo_t *si, void *uc)
{
	if (started)
		answer(sig, si, uc);
	started = 1;
	next(uc);
}

static void map(uint64_t addr, size_t size, int prot)
{
	void *p = mmap((void *)addr, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED) {
		perror("mmap");
		exit(6);
	}
}

int main(void)
{
	static char stack[65536], in[1 << 16], out[1 << 16];
	setvbuf(stdin, in, _IOFBF, sizeof in);
	setvbuf(stdout, out, _IOFBF, sizeof out);
	map(CODE, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
	map(ARENA, ARENA_SIZE, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < CODE_SIZE / 4; i++)
		((uint32_t *)CODE)[i] = BRK;
	for (size_t i = 0; i < ARENA_SIZE / 8; i++)
		original[i] = pattern(i);
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&ss, 0);
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	int signals[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL};
	for (int i = 0; i < 4; i++)
		sigaction(signals[i], &sa, 0);
	((void (*)(void))CODE)();
	return 7;
}
