/* What differs between processors in the tests' programs: single instructions with names, and the program counter of a signal. */
#if defined(__x86_64__) || defined(__i386__)

#define COPY(to, from, n) __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory")
#define STORE(label, p) __asm__ volatile(".globl " #label "\n" #label ": movq $7,(%0)" : : "r"(p) : "memory")
#define CALL0(label, r, number) \
	__asm__ volatile(".globl " #label "\n" #label ": syscall" : "=a"(r) : "0"(number) : "rcx", "r11", "memory")
#define CALL2(label, r, number, a, b) \
	__asm__ volatile(".globl " #label "\n" #label ": syscall" : "=a"(r) : "0"(number), "D"(a), "S"(b) : "rcx", "r11", "memory")
#define PC(context) (*(unsigned long long *)&((ucontext_t *)(context))->uc_mcontext.gregs[REG_RIP])
#define STEPPED(context) (((ucontext_t *)(context))->uc_mcontext.gregs[REG_EFL] & 0x100)
#define OWN_TRAP "own_trap: nop\n.globl the_trap\nthe_trap: int3\n.globl after_trap\nafter_trap: nop\n ret\n"
#define TRAP_BEHIND 1 /* reported behind the instruction */
#define ILLEGAL "ud2"
#define ILLEGAL_LENGTH 2

#elif defined(__aarch64__)

#define COPY(to, from, n) while ((n)-- > 0) { *(to)++ = *(from)++; __asm__ volatile("" ::: "memory"); }
#define STORE(label, p) __asm__ volatile(".globl " #label "\n" #label ": str %1,[%0]" : : "r"(p), "r"(7L) : "memory")
#define CALL0(label, r, number) do { \
	register long nr __asm__("x8") = (number), x0 __asm__("x0"); \
	__asm__ volatile(".globl " #label "\n" #label ": svc #0" : "=r"(x0) : "r"(nr) : "memory"); \
	r = x0; } while (0)
#define CALL2(label, r, number, a, b) do { \
	register long nr __asm__("x8") = (number), x0 __asm__("x0") = (long)(a), x1 __asm__("x1") = (long)(b); \
	__asm__ volatile(".globl " #label "\n" #label ": svc #0" : "+r"(x0) : "r"(nr), "r"(x1) : "memory"); \
	r = x0; } while (0)
#define PC(context) (((ucontext_t *)(context))->uc_mcontext.pc)
#define STEPPED(context) 0
#define OWN_TRAP "own_trap: nop\n.globl the_trap\nthe_trap: brk #1\n.globl after_trap\nafter_trap: nop\n ret\n"
#define TRAP_BEHIND 0
#define ILLEGAL ".inst 0"
#define ILLEGAL_LENGTH 4

#elif defined(__arm__)

#define COPY(to, from, n) while ((n)-- > 0) { *(to)++ = *(from)++; __asm__ volatile("" ::: "memory"); }
#define STORE(label, p) __asm__ volatile(".globl " #label "\n" #label ": str %1,[%0]" : : "r"(p), "r"(7L) : "memory")
#define CALL0(label, r, number) do { \
	register long nr __asm__("r7") = (number), r0 __asm__("r0"); \
	__asm__ volatile(".globl " #label "\n" #label ": svc #0" : "=r"(r0) : "r"(nr) : "memory"); \
	r = r0; } while (0)
#define CALL2(label, r, number, a, b) do { \
	register long nr __asm__("r7") = (number), r0 __asm__("r0") = (long)(a), r1 __asm__("r1") = (long)(b); \
	__asm__ volatile(".globl " #label "\n" #label ": svc #0" : "+r"(r0) : "r"(nr), "r"(r1) : "memory"); \
	r = r0; } while (0)
#define PC(context) (((ucontext_t *)(context))->uc_mcontext.arm_pc)
#define STEPPED(context) 0
#define TRAP_BEHIND 0
#ifdef __thumb__
#define OWN_TRAP ".thumb\n.thumb_func\n own_trap: nop\n.globl the_trap\nthe_trap: .inst.n 0xde01\n.globl after_trap\nafter_trap: nop\n bx lr\n"
#define ILLEGAL ".inst.n 0xde00"
#define ILLEGAL_LENGTH 2
#else
#define OWN_TRAP ".arm\nown_trap: nop\n.globl the_trap\nthe_trap: .inst 0xe7f001f0\n.globl after_trap\nafter_trap: nop\n bx lr\n"
#define ILLEGAL ".inst 0xe7f000f0"
#define ILLEGAL_LENGTH 4
#endif

#endif
