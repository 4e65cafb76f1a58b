/* A target of samples: "WORKERS MILLIONS SLEEPERS ROUNDS" has threads that compute, and threads whose calls a stop could disturb. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int bad;

static void check(const char *what, int ok)
{
	if (!ok) {
		printf("%s: errno %d\n", what, errno);
		__atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
	}
}

static void *work(void *arg)
{
	unsigned long x = 1, n = (unsigned long)arg * 1000000;
	for (unsigned long i = 0; i < n; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	unsigned long a = 1, c = 0, m = 6364136223846793005ul, d = 1442695040888963407ul;
	for (unsigned long k = n; k; k >>= 1) { /* the same in a few steps */
		if (k & 1) {
			a *= m;
			c = c * m + d;
		}
		d = d * (m + 1);
		m *= m;
	}
	check("work", x == a + c);
	return 0;
}

static void *sleeps(void *arg)
{
	for (long i = (long)arg; i > 0; i--) {
		struct timespec ms = {0, 20000000}, until;
		struct timeval tv = {0, 20000};
		int pair[2], ep = epoll_create1(0);
		struct epoll_event ev;
		char byte;
		check("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
		setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
		struct pollfd fd = {pair[0], POLLIN, 0};
		fd_set set;
		FD_ZERO(&set);
		FD_SET(pair[0], &set);
		sem_t sem;
		sem_init(&sem, 0, 0);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 20000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		check("epoll_wait", epoll_wait(ep, &ev, 1, 20) == 0);
		check("poll", poll(&fd, 1, 20) == 0);
		check("select", select(pair[0] + 1, &set, 0, 0, &tv) == 0);
		check("nanosleep", nanosleep(&ms, 0) == 0);
		check("sem_timedwait", sem_timedwait(&sem, &until) == -1 && errno == ETIMEDOUT);
		check("recv", recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN);
		close(pair[0]);
		close(pair[1]);
		close(ep);
		int end[2], status;
		check("pipe", pipe(end) == 0);
		pid_t child = fork();
		if (child == 0) {
			nanosleep(&ms, 0);
			_exit(write(end[1], "x", 1) == 1 ? 7 : 8);
		}
		check("read", read(end[0], &byte, 1) == 1 && byte == 'x');
		check("wait", waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
		close(end[0]);
		close(end[1]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t all[16];
	int n = 0;
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		pthread_create(&all[n++], 0, work, (void *)atol(argv[2]));
	for (int i = 0; argc > 3 && i < atoi(argv[3]); i++)
		pthread_create(&all[n++], 0, sleeps, (void *)atol(argv[4]));
	while (n > 0)
		pthread_join(all[--n], 0);
	printf("bad=%d\n", bad);
	return 0;
}
