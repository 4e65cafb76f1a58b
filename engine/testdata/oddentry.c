/* oddentry: begins with an instruction that no probe can stand on, a branch with an operand-size prefix to what follows it. Link it with -e entry. */
__asm__(".globl entry\nentry: .byte 0x66, 0x70, 0x00\n\tjmp _start\n");
__attribute__((noipa)) long work(long n) { return n + 1; }
int main(void) { return work(41) == 42 ? 0 : 1; }
