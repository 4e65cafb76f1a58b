/* loose: assembly without a size in front of functions whose names strip removes; one of those is chosen by an IFUNC. */
__asm__(".text\n.globl loose\n.type loose,@function\nloose:\n\tmov %eax,%eax\n\tret\n");
int loose(void);

__attribute__((noipa)) static int behind(int x) { return x + 2; }
static void *choose(void) { return (void *)behind; }
int chosen(int) __attribute__((ifunc("choose")));

int main(int argc, char **argv) { return chosen(argc) - 3 + loose() * 0; }
