/* Every kind of name there is: static ones of the same name in two files, aliases, an indirect function, variables. */
#define KEEP __attribute__((noipa))

static KEEP int helper(int n) { __asm__ volatile(""); return n + 1; }
KEEP int strong(int n) { __asm__ volatile(""); return n + 2; }
int alias_of_strong(int n) __attribute__((alias("strong")));
int __hidden_name(int n) __attribute__((weak, alias("strong")));

static KEEP int chosen_a(int n) { __asm__ volatile(""); return n + 3; }
static int (*resolve_chosen(void))(int) { return chosen_a; }
int chosen(int n) __attribute__((ifunc("resolve_chosen")));

KEEP int glob_one(int n) { __asm__ volatile(""); return n; }
KEEP int glob_two(int n) { __asm__ volatile(""); return n; }

long counter = 7;
static short small[4] = {1, 2, 3, 4};
int zeroed;
__thread int own;

/* no type, no size: as hand-written assembly often is */
__asm__(".text\n.globl bare_label\nbare_label:\n nop\n ret\n nop\n");
/* a type but no size, with call-frame information that tells the end */
__asm__(".text\n.globl framed\n.type framed, @function\nframed:\n.cfi_startproc\n nop\n nop\n ret\n.cfi_endproc\n nop\n nop\n");

int other_file(int n);

int main(int argc, char **argv)
{
	(void)argv;
	own = argc;
	return helper(argc) + strong(1) + alias_of_strong(2) + chosen(1) + glob_one(1) + glob_two(2) + other_file(3) + (int)counter +
	       small[argc & 3] + zeroed + own == 0;
}
