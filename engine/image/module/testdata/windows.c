/* Functions into whose first instructions something leads, for the tests of windows. Each has a name that says what. */
#define FUNC(name, body) \
	__asm__(".text\n.p2align 4, 0xcc\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" body "\n.size " #name ", . - " #name "\n")

FUNC(plain, "push %rbp\nmov %rsp, %rbp\npop %rbp\nret");
FUNC(single, "mov $1, %eax\nret");
FUNC(landing, "endbr64\npush %rbp\nmov %rsp, %rbp\npop %rbp\nret");
FUNC(branched, "push %rbp\n1: dec %edi\nmov %rsp, %rbp\njne 1b\npop %rbp\nret");
FUNC(skipped, "lock\nskipped_lock: addl $1, 8(%rdi)\nret\njmp skipped_lock");
FUNC(called, "push %rbx\ncalled_inner: nop\nmov %rsp, %rbp\nret");
FUNC(caller, "call called_inner\nret");
FUNC(pointed, "push %rbx\npointed_inner: nop\nmov %rsp, %rbp\nret");
FUNC(begun, "push %rbx\n.globl inner\n.type inner, @function\ninner: nop\nmov %rsp, %rbp\nret\n.size inner, . - inner");
FUNC(in_sequence, "push %rbx\nsequence: mov %rsp, %rbp\nmov %rdi, (%rsi)\nsequence_end: ret\nsequence_abort: jmp in_sequence");
FUNC(bare_return, "ret");
FUNC(full, "push %rbx\nret\n.byte 0x55, 0x55, 0x55");
FUNC(falls, "push %rbx\npop %rax");
FUNC(follows, "call plain\nret");
FUNC(asks, "mov $39, %eax\nsyscall\nret");
/* Returns: behind a window, at the target of a branch, and in functions with indirect jumps. */
FUNC(returns, "xor %eax, %eax\nadd $8, %rsp\npop %rbx\nret\n.byte 0x55, 0x55, 0x55");
FUNC(joined, "test %edi, %edi\nje 1f\nxor %eax, %eax\nmov %edi, %ebx\n1: ret\n.byte 0x55, 0x55, 0x55, 0x55");
FUNC(unclear, "nop\nnop\njmp *(%rdi, %rsi, 8)\nxor %eax, %eax\nadd $8, %rsp\nret\n.byte 0x55, 0x55, 0x55");
#define SWITCH(table, second) \
	"cmp $1, %edi\nja 2f\nlea " table "(%rip), %rdx\nmovslq (%rdx, %rdi, 4), %rax\nadd %rdx, %rax\njmp *%rax\n" \
	"1: xor %eax, %eax\n2: add $8, %rsp\n3: ret\n.byte 0x55, 0x55, 0x55, 0x55\n" \
	".section .rodata\n.p2align 2\n" table ": .long 1b - " table ", " second " - " table "\n.text"
FUNC(switched, SWITCH("first_table", "2b"));
FUNC(tabled, SWITCH("second_table", "3b"));
FUNC(lost, "cmp $1, %edi\nja 2f\nmovslq (%rdx, %rdi, 4), %rax\nadd %rdx, %rax\nnotrack jmp *%rax\n"
	"1: xor %eax, %eax\n2: xor %eax, %eax\nadd $8, %rsp\nret\n.byte 0x55, 0x55, 0x55, 0x55");
FUNC(computed, "lea 1f(%rip), %rdx\nlea (%rdx, %rdi, 4), %rdx\njmp *%rdx\n"
	"1: xor %eax, %eax\nxor %ebx, %ebx\nadd $8, %rsp\nret\n.byte 0x55, 0x55, 0x55, 0x55");
/* Pieces of functions, whose red zone may be in use. */
__asm__(".text\n.globl label\nlabel: push %rbx\nmov %rsp, %rbp\nnop\nret\n");
FUNC(piece.cold, "push %rbx\nmov %rsp, %rbp\nnop\nret");
FUNC(undecoded, "xor %eax, %eax\nadd $8, %rsp\nret\n.byte 0x06, 0x06, 0x06, 0x06");

__asm__(".data\n.p2align 3\n.quad pointed_inner\n.text");
__asm__(".section __rseq_cs, \"aw\"\n.p2align 5\n.long 0, 0\n.quad sequence, sequence_end - sequence, sequence_abort\n.text");

int main(void) { return 0; }
