/* direct: calls rt_sigprocmask by instructions of its own, each of which has a name, and another system call */
#define CALL(name, number, how, set, old) do { \
	register long r7 __asm__("r7") = (number); \
	register long r0 __asm__("r0") = (how); \
	register void *r1 __asm__("r1") = (set), *r2 __asm__("r2") = (old); \
	register long r3 __asm__("r3") = 8; \
	__asm__ volatile(".globl " name "\n" name ": svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3) : "memory"); \
} while (0)

#define FUNC __attribute__((noipa))

static unsigned long all[2] = { -1, -1 }, before[2];

FUNC void begin(void) { CALL("begins", 175, 0, all, before); }

FUNC void end(void) { CALL("ends", 175, 2, before, 0); }

FUNC void change(long how, void *set)
{
	CALL("other", 175, how, set, 0);
	CALL("action", 174, 5, set, 0);
}

void _start(void)
{
	begin();
	end();
	change(1, all);
}
