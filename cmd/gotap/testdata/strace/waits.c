// Waiting: poll, select, epoll, and what can be waited for.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	int p[2], q[2];
	char buf[512];
	uint64_t n = 3;
	pipe(p);
	pipe2(q, O_CLOEXEC | O_NONBLOCK);
	write(p[1], "x", 1);
	struct pollfd f[4] = {{p[0], POLLIN | POLLPRI, 0}, {q[1], POLLOUT | POLLRDHUP, 0}, {-1, POLLIN, 0}, {q[0], POLLIN, 0}};
	poll(f, 4, 100);
	poll(f + 3, 1, 1);
	poll(NULL, 0, 1);
	struct pollfd bad[2] = {{99, POLLIN, 0}, {p[0], POLLIN | POLLRDNORM | POLLRDBAND, 0}};
	poll(bad, 2, -1);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	ppoll(f, 2, &(struct timespec){1, 5}, &set);
	ppoll(f + 3, 1, &(struct timespec){0, 5}, NULL);
	ppoll(f, 1, NULL, NULL);
	fd_set r, w, e;
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_ZERO(&e);
	FD_SET(p[0], &r), FD_SET(q[0], &r), FD_SET(q[1], &w), FD_SET(p[0], &e);
	select(10, &r, &w, &e, NULL);
	FD_ZERO(&r);
	FD_SET(q[0], &r);
	select(10, &r, NULL, NULL, &(struct timeval){0, 100});
	FD_SET(40, &r);
	select(50, &r, NULL, NULL, &(struct timeval){0, 100});
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	pselect(10, &r, NULL, NULL, &(struct timespec){0, 0}, &set);
	pselect(10, &r, NULL, NULL, NULL, NULL);
	select(0, NULL, NULL, NULL, &(struct timeval){0, 1});

	int ep = epoll_create1(EPOLL_CLOEXEC), old = epoll_create(5);
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET | EPOLLONESHOT, .data.u64 = 0x1234567890}, got[4];
	epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev);
	ev.events = EPOLLOUT | EPOLLRDHUP | EPOLLHUP | EPOLLERR, ev.data.fd = q[1];
	epoll_ctl(ep, EPOLL_CTL_ADD, q[1], &ev);
	epoll_ctl(ep, EPOLL_CTL_ADD, q[1], &ev);
	epoll_wait(ep, got, 4, 10);
	epoll_wait(old, got, 4, 0);
	epoll_pwait(ep, got, 1, -1, &set);
	epoll_pwait2(ep, got, 1, &(struct timespec){0, 100}, NULL);
	epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev);
	epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL);
	epoll_ctl(ep, 7, p[0], NULL);

	int fd = eventfd(5, EFD_SEMAPHORE | EFD_NONBLOCK);
	write(fd, &n, 8);
	read(fd, &n, 8);
	int t = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	struct itimerspec when = {{0, 1000000}, {0, 1}}, left;
	timerfd_settime(t, 0, &when, NULL);
	when.it_value.tv_sec = 1000;
	timerfd_settime(t, TFD_TIMER_ABSTIME, &when, &left);
	timerfd_gettime(t, &left);
	int in = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	int wd = inotify_add_watch(in, ".", IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MODIFY);
	inotify_add_watch(in, "none", IN_ALL_EVENTS | IN_ONLYDIR | IN_ONESHOT);
	inotify_rm_watch(in, wd);
	read(in, buf, 1);

	nanosleep(&(struct timespec){0, 1000}, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){0, 1000}, NULL);
	struct timespec ts;
	syscall(SYS_clock_getres, CLOCK_REALTIME, &ts);
	syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &ts);
	syscall(SYS_clock_gettime, 99, &ts);
	struct sigevent se = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 4};
	timer_t id;
	timer_create(CLOCK_REALTIME, &se, &id);
	timer_settime(id, 0, &when, NULL);
	timer_gettime(id, &when);
	timer_getoverrun(id);
	timer_delete(id);
	return 7;
}
