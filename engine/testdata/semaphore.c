/* semaphore: passes a static mark whose semaphore says that somebody probes it, from when that rises until it falls. */
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <sys/sdt.h>
#include <unistd.h>
unsigned short demo_mark_semaphore __attribute__((section(".probes")));
static volatile unsigned short *const semaphore = &demo_mark_semaphore;
int main(void)
{
	int most = 0;
	for (int i = 0; i < 600000 && !*semaphore; i++)
		usleep(1000);
	for (int i = 0; i < 600000 && *semaphore; i++) {
		most = *semaphore > most ? *semaphore : most;
		STAP_PROBE1(demo, mark, i);
		usleep(1000);
	}
	printf("rose to %d, fell to %d\n", most, *semaphore);
	fflush(stdout);
	getchar();
	return 0;
}
