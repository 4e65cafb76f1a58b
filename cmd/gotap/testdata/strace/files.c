// Files: names, kinds, attributes, locks, and ways to copy.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

int main(void)
{
	struct stat st;
	struct statfs fs;
	struct statx sx;
	struct termios tio;
	char buf[300], a[10], b[10];
	int n;
	umask(027);
	int fd = open("new", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	open("new", O_RDWR | O_CREAT | O_EXCL, 0640);
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_PATH);
	openat(dir, "none/\001\"\\\t\x7f" "7", O_WRONLY | O_APPEND | O_SYNC | O_TRUNC);
	openat(dir, "new", O_RDONLY | O_DSYNC | O_NOATIME | O_NONBLOCK | O_DIRECT);
	close(open(".", O_TMPFILE | O_RDWR, 0600));
	syscall(SYS_openat2, AT_FDCWD, "new", &(struct open_how){.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH}, sizeof(struct open_how));
	syscall(SYS_creat, "made", 0600);
	memset(buf, 'a', sizeof buf);
	memcpy(buf, "a line\nand \"another\"\0" "1\x7f\x80", 24);
	write(fd, buf, 24);
	write(fd, buf, sizeof buf);
	write(fd, buf, 32);
	write(fd, buf, 33);
	write(fd, "", 0);
	write(-1, buf, 10);
	write(fd, (void *)8, 10);
	pwrite(fd, "abc", 3, 4096);
	pread(fd, buf, 300, 4000);
	pread(fd, buf, 300, 1 << 20);
	writev(fd, (struct iovec[]){{"one", 3}, {"", 0}, {buf, 200}}, 3);
	pwritev(fd, (struct iovec[]){{"one", 3}, {"two", 3}}, 2, 50);
	preadv(fd, (struct iovec[]){{a, 4}, {b, 10}}, 2, 48);
	preadv2(fd, (struct iovec[]){{a, 4}, {b, 10}}, 2, 48, RWF_HIPRI);
	pwritev2(fd, (struct iovec[]){{"one", 3}}, 1, 50, RWF_DSYNC);
	lseek(fd, 0, SEEK_SET);
	lseek(fd, -10, SEEK_END);
	lseek(fd, 0, SEEK_HOLE);
	lseek(fd, 0, SEEK_DATA);
	lseek(fd, 0, 9);
	readv(fd, (struct iovec[]){{a, 4}, {b, 10}}, 2);

	stat("new", &st), lstat("none", &st), fstat(fd, &st), stat("/dev/null", &st);
	syscall(SYS_stat, "new", &st), syscall(SYS_lstat, ".", &st);
	fstatat(dir, "new", &st, AT_SYMLINK_NOFOLLOW), fstatat(fd, "", &st, AT_EMPTY_PATH);
	statx(AT_FDCWD, "new", AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_BTIME, &sx);
	statx(AT_FDCWD, "/dev/zero", 0, STATX_TYPE | STATX_MODE, &sx);
	statfs("/proc", &fs), fstatfs(fd, &fs);
	access("new", R_OK | W_OK), access("none", F_OK);
	faccessat(AT_FDCWD, "new", X_OK, AT_EACCESS);
	syscall(SYS_faccessat, AT_FDCWD, "new", W_OK);
	mkdir("d", 01777), mkdirat(dir, "d/e", 0700), mknod("f", S_IFIFO | 0600, 0), mknodat(dir, "c", S_IFCHR | 0600, makedev(1, 3));
	stat("d", &st), stat("f", &st), stat("c", &st);
	symlink("new", "s"), symlinkat("x", dir, "s2"), link("new", "l"), linkat(dir, "s", dir, "l2", AT_SYMLINK_FOLLOW);
	readlink("s", buf, sizeof buf), readlink("new", buf, sizeof buf), readlinkat(dir, "s2", buf, 1), lstat("s", &st);
	rename("l", "l3"), renameat(dir, "l3", dir, "l4"), renameat2(dir, "l4", dir, "l5", RENAME_NOREPLACE), renameat2(dir, "l5", dir, "s", RENAME_EXCHANGE);
	chmod("new", 04755), fchmod(fd, 0), fchmodat(dir, "new", 02640, 0), stat("new", &st);
	chown("new", 0, -1), fchown(fd, 0, 0), lchown("s", 0, 0), fchownat(dir, "s", 0, 0, AT_SYMLINK_NOFOLLOW);
	truncate("new", 8192), ftruncate(fd, 100), fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 4096), fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 10);
	utimensat(dir, "new", (struct timespec[]){{1000000000, 5}, {0, UTIME_NOW}}, 0), utimensat(dir, "s", NULL, AT_SYMLINK_NOFOLLOW);
	futimens(fd, (struct timespec[]){{0, UTIME_OMIT}, {1700000000, 0}});
	setxattr("new", "user.a", "value", 5, XATTR_CREATE), getxattr("new", "user.a", buf, 300), listxattr("new", buf, 300), removexattr("new", "user.a");
	fsetxattr(fd, "user.b", "v", 1, 0), fgetxattr(fd, "user.none", buf, 300), flistxattr(fd, buf, 300), fremovexattr(fd, "user.b"), lgetxattr("s", "user.a", NULL, 0);

	fcntl(fd, F_GETFD), fcntl(fd, F_SETFD, 0), fcntl(fd, F_GETFL), fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK), fcntl(fd, F_DUPFD, 20), fcntl(fd, F_DUPFD_CLOEXEC, 30);
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 10};
	fcntl(fd, F_SETLK, &lock), fcntl(fd, F_GETLK, &lock), fcntl(fd, F_OFD_SETLK, &lock), fcntl(fd, F_GETOWN), fcntl(fd, F_SETOWN, 0), fcntl(fd, F_GETLEASE);
	fcntl(fd, F_SETLEASE, F_UNLCK), fcntl(fd, F_NOTIFY, 0), fcntl(fd, F_GETPIPE_SZ), fcntl(fd, 77, 5);
	flock(fd, LOCK_EX | LOCK_NB), flock(fd, LOCK_UN), fsync(fd), fdatasync(fd), syncfs(fd), posix_fadvise(fd, 0, 100, POSIX_FADV_WILLNEED), readahead(fd, 0, 4096);
	sync_file_range(fd, 0, 100, SYNC_FILE_RANGE_WRITE);
	tcgetattr(fd, &tio), ioctl(fd, FIONREAD, &n), ioctl(fd, TIOCGWINSZ, buf), ioctl(fd, FIOCLEX), ioctl(fd, 0x1234, 5);
	int p[2], q[2];
	off_t off = 3, off2 = 4;
	pipe(p), pipe(q);
	sendfile(p[1], fd, &off, 20), sendfile(p[1], fd, NULL, 0), copy_file_range(fd, &off, dir, &off2, 5, 0);
	splice(fd, &off, p[1], NULL, 5, SPLICE_F_MOVE | SPLICE_F_NONBLOCK), tee(p[0], q[1], 4, SPLICE_F_MORE), vmsplice(q[1], &(struct iovec){"abc", 3}, 1, SPLICE_F_GIFT);
	ioctl(p[0], FIONREAD, &n), ioctl(p[0], FIONBIO, &n), fcntl(p[0], F_SETPIPE_SZ, 8192), fcntl(p[0], F_GETPIPE_SZ);
	dup(fd), dup2(fd, 50), dup3(fd, 51, O_CLOEXEC), dup2(99, 98), close(99), close_range(50, 60, 0), syscall(SYS_close_range, 60, ~0U, CLOSE_RANGE_CLOEXEC);
	int m = memfd_create("name", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	fcntl(m, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK), fcntl(m, F_GET_SEALS);
	syscall(SYS_getdents64, open("d", O_RDONLY | O_DIRECTORY), buf, 300);
	getcwd(buf, 300), getcwd(buf, 2), chdir("d"), fchdir(dir), unlink("none"), unlinkat(dir, "d/e", AT_REMOVEDIR), rmdir("d"), rmdir("new"), sync();
	return 0;
}
