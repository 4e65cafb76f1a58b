// Sockets: addresses, options, messages.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static void options(int s)
{
	int one = 1, n;
	socklen_t size = sizeof n;
	struct linger linger = {1, 5};
	struct timeval tv = {2, 500000};
	struct ucred who;
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	setsockopt(s, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
	setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
	setsockopt(s, IPPROTO_TCP, TCP_KEEPINTVL, &one, 2);
	setsockopt(s, IPPROTO_IP, IP_TTL, &(int){64}, sizeof one);
	setsockopt(s, IPPROTO_IP, IP_TOS, &(int){16}, sizeof one);
	setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
	setsockopt(s, SOL_SOCKET, 999, &one, sizeof one);
	getsockopt(s, SOL_SOCKET, SO_TYPE, &n, &size);
	getsockopt(s, SOL_SOCKET, SO_ERROR, &n, &size);
	getsockopt(s, SOL_SOCKET, SO_DOMAIN, &n, &size);
	getsockopt(s, SOL_SOCKET, SO_PROTOCOL, &n, &size);
	getsockopt(s, SOL_SOCKET, SO_ACCEPTCONN, &n, &size);
	size = sizeof linger;
	getsockopt(s, SOL_SOCKET, SO_LINGER, &linger, &size);
	size = sizeof tv;
	getsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, &size);
	size = sizeof who;
	getsockopt(s, SOL_SOCKET, SO_PEERCRED, &who, &size);
}

// passed sends data with a descriptor from one socket to the other.
static void passed(int from, int to)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, a[4], b[40];
	struct iovec out[2] = {{"data", 4}, {"and more", 8}}, in[2] = {{a, 4}, {b, 40}};
	struct msghdr m = {.msg_iov = out, .msg_iovlen = 2, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &from, sizeof(int));
	sendmsg(from, &m, MSG_NOSIGNAL);
	struct msghdr r = {.msg_iov = in, .msg_iovlen = 2, .msg_control = room, .msg_controllen = sizeof room};
	recvmsg(to, &r, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	recvmsg(to, &r, MSG_DONTWAIT);
	struct mmsghdr two[2] = {{.msg_hdr = {.msg_iov = out, .msg_iovlen = 1}}, {.msg_hdr = {.msg_iov = out + 1, .msg_iovlen = 1}}};
	sendmmsg(from, two, 2, 0);
	two[0].msg_hdr.msg_iov = in, two[1].msg_hdr.msg_iov = in + 1;
	recvmmsg(to, two, 2, MSG_DONTWAIT, NULL);
}

int main(void)
{
	char buf[200];
	int pair[2];
	struct sockaddr_storage peer;
	socklen_t size = sizeof peer;
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "sock"};
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
	passed(pair[0], pair[1]);
	int s = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(c, (struct sockaddr *)&un, sizeof un);
	bind(s, (struct sockaddr *)&un, sizeof un), listen(s, 5);
	connect(c, (struct sockaddr *)&un, 2 + 5);
	int got = accept(s, (struct sockaddr *)&peer, &size);
	options(got);
	size = sizeof peer, getsockname(got, (struct sockaddr *)&peer, &size);
	size = 4, getsockname(got, (struct sockaddr *)&peer, &size);
	size = sizeof peer, getpeername(got, (struct sockaddr *)&peer, &size);
	memcpy(un.sun_path, "\0hidden", 7);
	bind(c = socket(AF_UNIX, SOCK_DGRAM, 0), (struct sockaddr *)&un, 2 + 7);
	sendto(c, "to myself", 9, 0, (struct sockaddr *)&un, 2 + 7);
	size = sizeof peer, recvfrom(c, buf, 200, 0, (struct sockaddr *)&peer, &size);

	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(27543)};
	inet_pton(AF_INET, "127.93.5.4", &in.sin_addr);
	s = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
	options(s);
	bind(s, (struct sockaddr *)&in, sizeof in), listen(s, 128);
	c = socket(AF_INET, SOCK_STREAM, IPPROTO_IP);
	connect(c, (struct sockaddr *)&in, sizeof in);
	got = accept4(s, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	recvfrom(got, buf, 1, MSG_PEEK | MSG_TRUNC, NULL, NULL);
	send(c, "hello", 5, MSG_OOB | MSG_MORE);
	shutdown(c, SHUT_WR), shutdown(c, SHUT_RD), shutdown(-1, SHUT_RDWR), shutdown(c, 9);
	size = sizeof peer, getsockname(got, (struct sockaddr *)&peer, &size);
	int u = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);
	bind(u, (struct sockaddr *)&in, sizeof in);
	sendto(u, "datagram", 8, MSG_DONTWAIT, (struct sockaddr *)&in, sizeof in);
	size = sizeof peer, recvfrom(u, buf, 200, MSG_WAITALL, (struct sockaddr *)&peer, &size);
	struct iovec one = {"datagram", 8};
	struct msghdr m = {.msg_name = &in, .msg_namelen = sizeof in, .msg_iov = &one, .msg_iovlen = 1};
	sendmsg(u, &m, 0);
	one.iov_base = buf, one.iov_len = 200, m.msg_name = &peer, m.msg_namelen = sizeof peer;
	recvmsg(u, &m, 0);
	in.sin_port = htons(1);
	connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&in, sizeof in);
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(27543), .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_flowinfo = htonl(5), .sin6_scope_id = 0};
	s = socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &(int){1}, sizeof(int));
	bind(s, (struct sockaddr *)&six, sizeof six);
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK, .nl_groups = 1};
	bind(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), (struct sockaddr *)&nl, sizeof nl);
	bind(s, (struct sockaddr *)&(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr));
	bind(s, (struct sockaddr *)&in, 1), bind(s, (void *)8, 16), connect(s, NULL, 0);
	socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), socket(AF_PACKET, SOCK_RAW, htons(3)), socket(99, 77, 55);
	return 0;
}
