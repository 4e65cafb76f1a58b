/* firstgone: the first thread ends, another goes on until its input does. */
#include <pthread.h>
#include <unistd.h>

static void *rest(void *unused)
{
	char c;
	while (read(0, &c, 1) > 0)
		;
	_exit(0);
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, rest, NULL);
	pthread_exit(NULL);
}
