// Runs single A32 and Thumb instructions on a processor, real or emulated, from given states, and tells the states they leave.
//
// Standard input is a sequence of records, standard output one answer for each. All numbers are little-endian.
//
// A record: u32 thumb, u32 size, u32 instruction (as in memory), u32 windows, struct registers, then the windows: u32 address,
// u32 length, bytes (padded to 4).
// An answer: u32 signal, u32 fault address, u32 differences, struct registers, then the differences: u32 address, u32 new word.
//
// There is a region of code for each of the two instruction sets, full of instructions that trap, whatever ITSTATE is; the instruction
// lies at its start + 0x1000. An instruction that has run and gone on to another place in the regions ends in SIGILL or SIGTRAP there. Memory is the
// arena, whose word i holds pattern(i) where no window says otherwise. States are loaded by returning from a signal handler: the
// kernel then sets every register at once.

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define CODE_A32 0x10000000u
#define CODE_T32 0x10010000u
#define CODE_SIZE 0x4000u
#define ARENA 0x20000000u
#define ARENA_SIZE 0x4000u
#define FILL_A32 0xe7ffdeffu
#define FILL_T32 0xbeffbeffu

struct registers {
	uint32_t r[16], cpsr, fpscr;
	uint64_t d[32];
};

struct vfp_frame {
	uint32_t magic, size;
	uint64_t d[32];
	uint32_t fpscr;
};
#define VFP_MAGIC 0x56465001u

static uint32_t before[ARENA_SIZE / 4];
static uint32_t original[ARENA_SIZE / 4];

static uint32_t pattern(uint32_t i)
{
	uint32_t z = (i + 1) * 0x9e3779b9u;
	z = (z ^ (z >> 16)) * 0x85ebca6bu;
	return z ^ (z >> 13);
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
static struct vfp_frame *vectors(ucontext_t *uc)
{
	uint32_t *p = (uint32_t *)uc->uc_regspace;
	for (int i = 0; i < 4 && p[0] != VFP_MAGIC; i++)
		p = (uint32_t *)((char *)p + p[1]);
	if (p[0] != VFP_MAGIC)
		exit(3);
	return (struct vfp_frame *)p;
}

static void answer(int sig, siginfo_t *si, ucontext_t *uc)
{
	struct registers r;
	struct vfp_frame *f = vectors(uc);
	uint32_t head[3] = {sig, (uint32_t)si->si_addr, 0};
	memcpy(r.r, &uc->uc_mcontext.arm_r0, sizeof r.r);
	r.cpsr = uc->uc_mcontext.arm_cpsr;
	r.fpscr = f->fpscr;
	memcpy(r.d, f->d, sizeof r.d);
	uint32_t *arena = (uint32_t *)ARENA;
	for (size_t i = 0; i < ARENA_SIZE / 4; i++)
		head[2] += arena[i] != before[i];
	put(head, sizeof head);
	put(&r, sizeof r);
	for (size_t i = 0; head[2] && i < ARENA_SIZE / 4; i++)
		if (arena[i] != before[i]) {
			uint32_t d[2] = {ARENA + 4 * i, arena[i]};
			put(d, sizeof d);
		}
}

// Puts the instruction in its place; what a longer one left behind it is filled again.
static void place(uint32_t thumb, uint32_t size, uint32_t insn)
{
	char *pc = (char *)(thumb ? CODE_T32 : CODE_A32) + 0x1000;
	uint32_t word = thumb ? FILL_T32 : FILL_A32;
	memcpy(&word, &insn, size);
	if (memcmp(pc, &word, 4) != 0) {
		memcpy(pc, &word, 4);
		__builtin___clear_cache(pc, pc + 4);
	}
}

// Loads the next record into the frame. At the end of the input the program ends.
static void next(ucontext_t *uc)
{
	struct registers r;
	struct vfp_frame *f = vectors(uc);
	uint32_t head[4];
	if (!get(head, sizeof head)) {
		fflush(stdout);
		_exit(0);
	}
	if (!get(&r, sizeof r))
		exit(4);
	memcpy((void *)ARENA, original, ARENA_SIZE);
	for (uint32_t i = 0; i < head[3]; i++) {
		uint32_t at[2];
		if (!get(at, sizeof at) || !get((void *)at[0], (at[1] + 3) & -4u))
			exit(5);
	}
	memcpy(before, (void *)ARENA, ARENA_SIZE);
	place(head[0], head[1], head[2]);
	memcpy(&uc->uc_mcontext.arm_r0, r.r, sizeof r.r);
	uc->uc_mcontext.arm_pc = (head[0] ? CODE_T32 : CODE_A32) + 0x1000;
	uc->uc_mcontext.arm_cpsr = r.cpsr;
	memcpy(f->d, r.d, sizeof r.d);
	f->fpscr = r.fpscr;
}

static int started;

static void handler(int sig, siginfo_t *si, void *uc)
{
	if (started)
		answer(sig, si, uc);
	started = 1;
	next(uc);
}

static void map(uint32_t addr, size_t size, int prot, uint32_t fill)
{
	uint32_t *p = mmap((void *)addr, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED) {
		perror("mmap");
		exit(6);
	}
	for (size_t i = 0; i < size / 4; i++)
		p[i] = fill;
}

int main(void)
{
	static char stack[65536], in[1 << 16], out[1 << 16];
	setvbuf(stdin, in, _IOFBF, sizeof in);
	setvbuf(stdout, out, _IOFBF, sizeof out);
	map(CODE_A32, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, FILL_A32);
	map(CODE_T32, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, FILL_T32);
	map(ARENA, ARENA_SIZE, PROT_READ | PROT_WRITE, 0);
	for (size_t i = 0; i < ARENA_SIZE / 4; i++)
		original[i] = pattern(i);
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&ss, 0);
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	int signals[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
	for (int i = 0; i < 5; i++)
		sigaction(signals[i], &sa, 0);
	((void (*)(void))CODE_A32)();
	return 7;
}
