/* Static marks with operands of every width, by register, memory and constant. */
#include <stdint.h>
#include <sys/sdt.h>

static const char *words[] = {"a", "b", "c"};
static volatile int global = 5;

void gate(long n);

__attribute__((noipa)) void fire(long n, int8_t s, uint16_t u, double d)
{
	volatile int64_t local = n;
	volatile uint8_t byte = (uint8_t)n;
	STAP_PROBE(t, plain);
	STAP_PROBE4(t, registers, n, s, u, words[n % 3]);
	STAP_PROBE3(t, memory, local, byte, global);
	STAP_PROBE4(t, constants, -3600, (signed char)-16, 4092785136u, 7L);
	STAP_PROBE2(t, floats, d, (float)d);
	gate(n);
}

int main(int argc, char **argv)
{
	(void)argv;
	fire(argc, 1, 2, 0.5);
	return 0;
}
