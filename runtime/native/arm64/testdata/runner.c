// Runs native code on an arena, case after case. From standard input: the size of the arena in bytes, the arena, and for each case the
// registers (x0 to x30, nzcv), the size of the code and the code, all of 64 bits. To standard output: for each case the registers
// afterwards (x0 to x30, sp, nzcv) and a hash of the arena; at the end the arena.
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA 0x10000000ul
#define CODE 0x20000000ul
#define BLOB 0x20100000ul
#define SAVE 0x30000000ul
#define STACK 0x40000000ul

extern char enter[], jump[], leave[], leave_end[];

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

static void map(uint64_t at, size_t n, int prot) {
	if (mmap((void *)at, n, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)at)
		_exit(2);
}

int main(void) {
	uint64_t size, n;
	map(CODE, 0x200000, PROT_READ | PROT_WRITE | PROT_EXEC);
	map(SAVE, 0x1000, PROT_READ | PROT_WRITE);
	map(STACK, 0x10000, PROT_READ | PROT_WRITE);
	if (!get(&size, 8))
		return 3;
	map(ARENA, size, PROT_READ | PROT_WRITE);
	get((void *)ARENA, size);
	memcpy((void *)BLOB, leave, leave_end - leave);
	char *start = (char *)BLOB + 0x1000;
	memcpy(start, enter, leave - enter);
	uint32_t *b = (uint32_t *)(start + (jump - enter));
	*b = 0x14000000 | (((int64_t)CODE - (int64_t)b) / 4 & 0x3ffffff);
	__builtin___clear_cache((char *)BLOB, (char *)BLOB + 0x2000);
	while (get((void *)(SAVE + 512), 32 * 8) && get(&n, 8) && get((void *)CODE, n)) {
		__builtin___clear_cache((char *)CODE, (char *)CODE + n);
		((void (*)(void))start)();
		put((void *)SAVE, 33 * 8);
		uint64_t hash = 14695981039346656037ul;
		for (uint64_t *w = (uint64_t *)ARENA; w < (uint64_t *)(ARENA + size); w++)
			hash = (hash ^ *w) * 1099511628211ul;
		put(&hash, 8);
	}
	put((void *)ARENA, size);
	return 0;
}
