// Runs native code on an arena, case after case. The arena is file 3. From standard input: its size in bytes, and for each case the
// registers (x0 to x30, nzcv, sp), the floating-point state (v0 to v31, fpcr, fpsr), whether vectors are longer, the size of the code and the code, all of 64 bits. To standard output, the address of the thread's own data, and for each case: 1 at each breakpoint and each fault,
// with the registers (x0 to x30, sp, pc, nzcv), the floating-point state and FRAME words from the stack pointer on, to which the answer is where to continue; at the
// end, 0 with the registers and the state, or 2 if a vector has lost bits behind the first 128.
#define _GNU_SOURCE
#include <asm/sigcontext.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define ARENA 0x10000000ul
#define CODE 0x20000000ul
#define BLOB 0x20100000ul
#define SAVE 0x30000000ul
#define BEFORE (SAVE + 0x1000) // z0 to z31, fpcr, fpsr
#define AFTER (SAVE + 0x4000)
#define CONTROL 0x2000 // where fpcr and fpsr are in them
#define STATE 66
#define STACK 0x40000000ul
#define TOP (STACK + 0x8000) // where the stack pointer is
#define OTHER 0x41000000ul // another stack
#define DATA 0x50000000ul // pages that programs read; the last one cannot be read
#define PAGE 4096
#define FRAME 512

extern char enter[], jump[], leave[], leave_end[];

static unsigned long vector_size(void) {
	unsigned long n;
	__asm__(".arch armv8.2-a+sve\nrdvl %0, #1" : "=r"(n));
	return n;
}

static int get(void *p, size_t n) {
	for (char *c = p; n > 0;) {
		ssize_t k = read(0, c, n);
		if (k <= 0)
			return 0;
		c += k;
		n -= k;
	}
	return 1;
}

static void put(const void *p, size_t n) {
	for (const char *c = p; n > 0;) {
		ssize_t k = write(1, c, n);
		if (k <= 0)
			_exit(1);
		c += k;
		n -= k;
	}
}

static void map(uint64_t at, size_t n, int prot, int how, int fd) {
	if (mmap((void *)at, n, prot, how | MAP_FIXED_NOREPLACE, fd, 0) != (void *)at)
		_exit(2);
}

static void stopped(int sig, siginfo_t *info, void *context) {
	mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;
	uint64_t message[35 + STATE + FRAME] = {1}, pc;
	struct fpsimd_context *fp = (void *)m->__reserved;
	while (fp->head.magic != FPSIMD_MAGIC)
		fp = (void *)((char *)fp + fp->head.size);
	memcpy(message + 1, m->regs, 31 * 8);
	message[32] = m->sp;
	message[33] = m->pc;
	message[34] = m->pstate;
	memcpy(message + 35, fp->vregs, 64 * 8);
	message[35 + 64] = fp->fpcr;
	message[35 + 65] = fp->fpsr;
	memcpy(message + 35 + STATE, (void *)m->sp, FRAME * 8);
	put(message, sizeof message);
	if (!get(&pc, 8))
		_exit(4);
	m->pc = pc;
}

int main(void) {
	uint64_t size, n, longer, state[STATE], message[35 + STATE] = {0};
	unsigned long vl = vector_size();
	struct sigaction action = {.sa_sigaction = stopped, .sa_flags = SA_SIGINFO};
	sigaction(SIGTRAP, &action, 0);
	sigaction(SIGSEGV, &action, 0);
	map(DATA, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (uint64_t i = 0; i < 4 * PAGE; i++)
		((uint8_t *)DATA)[i] = i * i >> 3 ^ i;
	strcpy((char *)DATA + 100, "func");
	strcpy((char *)DATA + PAGE + 501, "longer than eight bytes");
	mprotect((void *)(DATA + 3 * PAGE), PAGE, PROT_NONE);
	map(CODE, 0x200000, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	map(SAVE, 0x10000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	map(OTHER, 0x10000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	map(STACK, 0x10000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	((uint64_t *)TOP)[0] = 0x1122334455667788; // arguments that are in no register
	((uint64_t *)TOP)[1] = 0x99aabbccddeeff00;
	if (!get(&size, 8))
		return 3;
	put((uint64_t[]){(uint64_t)__builtin_thread_pointer()}, 8);
	map(ARENA, size, PROT_READ | PROT_WRITE, MAP_SHARED, 3);
	memcpy((void *)BLOB, leave, leave_end - leave);
	char *start = (char *)BLOB + 0x1000;
	memcpy(start, enter, leave - enter);
	uint32_t *b = (uint32_t *)(start + (jump - enter));
	*b = 0x14000000 | (((int64_t)CODE - (int64_t)b) / 4 & 0x3ffffff);
	__builtin___clear_cache((char *)BLOB, (char *)BLOB + 0x2000);
	while (get((void *)(SAVE + 512), 33 * 8) && get(state, sizeof state) && get(&longer, 8) && get(&n, 8) && get((void *)CODE, n)) {
		for (unsigned long i = 0; i < 32 * vl; i++)
			((uint8_t *)BEFORE)[i] = i % vl < 16 ? ((uint8_t *)state)[i / vl * 16 + i % vl] : i * 7 + n;
		memcpy((void *)(BEFORE + CONTROL), state + 64, 16);
		__builtin___clear_cache((char *)CODE, (char *)CODE + n);
		((void (*)(void))start)();
		memcpy(message + 1, (void *)SAVE, 32 * 8);
		message[34] = ((uint64_t *)SAVE)[32];
		for (int i = 0; i < 32; i++)
			memcpy(message + 35 + 2 * i, (char *)AFTER + i * vl, 16);
		memcpy(message + 35 + 64, (void *)(AFTER + CONTROL), 16);
		message[0] = 0;
		for (unsigned long i = 0; longer && i < 32 * vl; i++)
			if (i % vl >= 16 && ((uint8_t *)BEFORE)[i] != ((uint8_t *)AFTER)[i])
				message[0] = 2;
		put(message, sizeof message);
	}
	return 0;
}
