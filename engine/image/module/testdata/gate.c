/* A mark with a semaphore: the counter that tells it whether anyone listens. */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

unsigned short t_gate_semaphore __attribute__((section(".probes")));

__attribute__((noipa)) void gate(long n)
{
	if (t_gate_semaphore)
		STAP_PROBE1(t, gate, n);
}
