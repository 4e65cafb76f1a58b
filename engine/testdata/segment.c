/* loads the stack segment, which holds traps back for one instruction */
#include <stdio.h>

__attribute__((noipa)) int segment(int v)
{
	__asm__ volatile("movl %%ss, %%ecx\n\tmovl %%ecx, %%ss\n\taddl $5, %0\n\taddl $6, %0" : "+r"(v) : : "ecx", "cc");
	return v;
}

int main(void)
{
	int bad = 0;
	for (int i = 0; i < 10; i++)
		bad += segment(i) != i + 11;
	printf("segment bad=%d\n", bad);
	return bad;
}
