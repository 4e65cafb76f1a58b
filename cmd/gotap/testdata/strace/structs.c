/* Calls with structs of many kinds. Most fail at once: what they point to is shown nevertheless. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utime.h>

#define S(name, ...) syscall(SYS_##name, __VA_ARGS__)
#define P(p) ((uint64_t)(uintptr_t)(p))
#define BPF(command, ...) do { union bpf_attr attr; memset(&attr, 0, sizeof attr); __VA_ARGS__; S(bpf, command, &attr, sizeof attr); } while (0)
#define SHORT(command, n, ...) do { union bpf_attr attr; memset(&attr, 0, sizeof attr); __VA_ARGS__; S(bpf, command, &attr, n); } while (0)

static char key[8] = "key", value[16] = "value";
static struct bpf_insn insns[] = { { 0xb7, 0, 0, 0, 1 }, { 0x95 } };

static void maps(void)
{
	BPF(BPF_MAP_CREATE, attr.map_type = BPF_MAP_TYPE_HASH; attr.key_size = 4; attr.value_size = 8; attr.max_entries = 0; attr.map_flags = BPF_F_NO_PREALLOC | BPF_F_RDONLY;
		strcpy(attr.map_name, "counts"));
	SHORT(BPF_MAP_CREATE, 20, attr.map_type = BPF_MAP_TYPE_RINGBUF; attr.key_size = 9);
	SHORT(BPF_MAP_CREATE, 48, attr.map_type = BPF_MAP_TYPE_ARRAY; attr.key_size = 9);
	BPF(BPF_MAP_CREATE, attr.map_type = 99);
	BPF(BPF_MAP_CREATE, attr.map_type = BPF_MAP_TYPE_STRUCT_OPS; attr.btf_fd = 99; attr.btf_key_type_id = 1; attr.btf_value_type_id = 2; attr.btf_vmlinux_value_type_id = 3);
	BPF(BPF_MAP_LOOKUP_ELEM, attr.map_fd = 99; attr.key = P(key); attr.value = P(value));
	BPF(BPF_MAP_UPDATE_ELEM, attr.map_fd = 99; attr.key = P(key); attr.value = P(value); attr.flags = BPF_NOEXIST);
	BPF(BPF_MAP_DELETE_ELEM, attr.map_fd = 99; attr.key = P(key));
	BPF(BPF_MAP_GET_NEXT_KEY, attr.map_fd = 99; attr.key = 0; attr.next_key = P(value));
	BPF(BPF_MAP_LOOKUP_AND_DELETE_ELEM, attr.map_fd = 99; attr.key = P(key); attr.value = P(value));
	SHORT(BPF_MAP_FREEZE, 4, attr.map_fd = 99);
	SHORT(BPF_MAP_LOOKUP_BATCH, 56, attr.batch.map_fd = 99; attr.batch.count = 3; attr.batch.keys = P(key); attr.batch.values = P(value); attr.batch.in_batch = 1; attr.batch.out_batch = 2);
	SHORT(BPF_MAP_UPDATE_BATCH, 56, attr.batch.map_fd = 99; attr.batch.count = 3; attr.batch.elem_flags = 1);
	SHORT(BPF_MAP_DELETE_BATCH, 56, attr.batch.map_fd = 99; attr.batch.count = 3);
}

/* Whole structs, whatever a command uses of them. */
static void attr_all(void)
{
	static const int commands[] = { BPF_OBJ_PIN, BPF_PROG_ATTACH, BPF_PROG_TEST_RUN, BPF_MAP_GET_FD_BY_ID, BPF_LINK_GET_FD_BY_ID, BPF_LINK_CREATE, BPF_LINK_UPDATE, BPF_BTF_LOAD, BPF_PROG_QUERY, BPF_MAP_FREEZE };
	for (int i = 0; i < sizeof commands / sizeof *commands; i++)
		BPF(commands[i]);
}

static void programs(void)
{
	BPF(BPF_PROG_LOAD, attr.prog_type = BPF_PROG_TYPE_KPROBE; attr.insn_cnt = 2; attr.insns = P(insns); attr.license = P("GPL"); attr.kern_version = 0x60102;
		attr.prog_flags = 1 << 31; strcpy(attr.prog_name, "probe"));
	SHORT(BPF_PROG_LOAD, 48, attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER; attr.insn_cnt = 2; attr.insns = P(insns); attr.license = 0; attr.log_level = 99; attr.log_size = 16; attr.log_buf = P(value));
	SHORT(BPF_PROG_LOAD, 72, attr.prog_type = BPF_PROG_TYPE_CGROUP_SKB; attr.expected_attach_type = BPF_CGROUP_INET_EGRESS; attr.prog_flags = 1 << 31; attr.prog_ifindex = 0);
	SHORT(BPF_OBJ_PIN, 16, attr.pathname = P("/none/pin"); attr.bpf_fd = 99);
	SHORT(BPF_OBJ_GET, 16, attr.pathname = P("/none/pin"); attr.file_flags = BPF_F_RDONLY);
	SHORT(BPF_PROG_ATTACH, 16, attr.target_fd = 98; attr.attach_bpf_fd = 99; attr.attach_type = BPF_CGROUP_DEVICE; attr.attach_flags = BPF_F_ALLOW_MULTI);
	SHORT(BPF_PROG_ATTACH, 20, attr.target_fd = 98; attr.attach_bpf_fd = 99; attr.attach_type = BPF_CGROUP_DEVICE; attr.attach_flags = 4; attr.replace_bpf_fd = 9);
	SHORT(BPF_PROG_DETACH, 16, attr.target_fd = 98; attr.attach_type = BPF_CGROUP_DEVICE);
	SHORT(BPF_PROG_TEST_RUN, 40, attr.test.prog_fd = 99; attr.test.data_size_in = 4; attr.test.data_in = P(key); attr.test.repeat = 2);
	SHORT(BPF_PROG_TEST_RUN, 64, attr.test.prog_fd = 99; attr.test.ctx_size_in = 4; attr.test.ctx_in = P(key));
	SHORT(BPF_PROG_GET_NEXT_ID, 8, attr.start_id = 0x7fffffff);
	SHORT(BPF_MAP_GET_NEXT_ID, 12, attr.start_id = 0x7fffffff; attr.open_flags = 99);
	SHORT(BPF_PROG_GET_FD_BY_ID, 8, attr.prog_id = 0x7fffffff);
	SHORT(BPF_MAP_GET_FD_BY_ID, 12, attr.map_id = 0x7fffffff; attr.open_flags = BPF_F_RDONLY);
	SHORT(BPF_OBJ_GET_INFO_BY_FD, 16, attr.info.bpf_fd = 99; attr.info.info_len = 8; attr.info.info = P(value));
	SHORT(BPF_PROG_QUERY, 32, attr.query.target_fd = 99; attr.query.attach_type = BPF_CGROUP_INET_INGRESS; attr.query.query_flags = 1; attr.query.prog_ids = P(value); attr.query.prog_cnt = 4);
	SHORT(BPF_RAW_TRACEPOINT_OPEN, 16, attr.raw_tracepoint.name = P("sched_none"); attr.raw_tracepoint.prog_fd = 99);
	SHORT(BPF_BTF_LOAD, 28, attr.btf = P(value); attr.btf_size = 5; attr.btf_log_buf = 0; attr.btf_log_size = 0; attr.btf_log_level = 0);
	SHORT(BPF_BTF_GET_FD_BY_ID, 4, attr.btf_id = 0x7fffffff);
	SHORT(BPF_BTF_GET_NEXT_ID, 8, attr.start_id = 0x7fffffff);
	SHORT(BPF_TASK_FD_QUERY, 48, attr.task_fd_query.pid = 1; attr.task_fd_query.fd = 99; attr.task_fd_query.buf_len = 16; attr.task_fd_query.buf = P(value));
	SHORT(BPF_LINK_CREATE, 16, attr.link_create.prog_fd = 99; attr.link_create.target_fd = 98; attr.link_create.attach_type = BPF_XDP; attr.link_create.flags = 0);
	SHORT(BPF_LINK_UPDATE, 16, attr.link_update.link_fd = 99; attr.link_update.new_prog_fd = 98; attr.link_update.flags = BPF_F_REPLACE; attr.link_update.old_prog_fd = 97);
	SHORT(BPF_LINK_GET_FD_BY_ID, 4, attr.link_id = 0x7fffffff);
	SHORT(BPF_LINK_GET_NEXT_ID, 8, attr.start_id = 0x7fffffff);
	SHORT(BPF_ENABLE_STATS, 4, attr.enable_stats.type = 9);
	SHORT(BPF_ITER_CREATE, 8, attr.iter_create.link_fd = 99);
	SHORT(BPF_LINK_DETACH, 4, attr.link_detach.link_fd = 99);
	SHORT(BPF_PROG_BIND_MAP, 12, attr.prog_bind_map.prog_fd = 99; attr.prog_bind_map.map_fd = 98);
	attr_all();
	S(bpf, 99, key, 8);
	S(bpf, 0, 8, 16);
}

static void rings(void)
{
	static struct io_uring_params params;
	params.flags = IORING_SETUP_SQPOLL | IORING_SETUP_SQ_AFF;
	params.sq_thread_cpu = 9999;
	params.sq_thread_idle = 5;
	S(io_uring_setup, 4, &params);
	memset(&params, 0, sizeof params);
	params.flags = IORING_SETUP_CQSIZE | IORING_SETUP_ATTACH_WQ;
	params.cq_entries = 8;
	params.wq_fd = 99;
	S(io_uring_setup, 4, &params);
	memset(&params, 0, sizeof params);
	S(io_uring_setup, 4, &params);
	S(io_uring_setup, 0, 0);

	static struct iovec iov = { value, 5 };
	static int fds[] = { 5, -1, 7 };
	static struct io_uring_files_update update = { .offset = 1, .fds = 0 };
	update.fds = P(fds);
	S(io_uring_register, 99, IORING_REGISTER_BUFFERS, &iov, 1);
	S(io_uring_register, 99, IORING_UNREGISTER_BUFFERS, 0, 0);
	S(io_uring_register, 99, IORING_REGISTER_FILES, fds, 3);
	S(io_uring_register, 99, IORING_REGISTER_EVENTFD, fds, 1);
	S(io_uring_register, 99, IORING_REGISTER_FILES_UPDATE, &update, 3);
	S(io_uring_register, 99, 77, 0x1234, 1);
}

static void events(void)
{
	static struct perf_event_attr attr;
#define EVENT(...) do { memset(&attr, 0, sizeof attr); attr.size = sizeof attr; __VA_ARGS__; S(perf_event_open, &attr, -1, -1, -1, PERF_FLAG_FD_CLOEXEC); } while (0)
	EVENT(attr.type = PERF_TYPE_HARDWARE; attr.config = PERF_COUNT_HW_INSTRUCTIONS; attr.disabled = 1; attr.exclude_kernel = 1);
	EVENT(attr.type = PERF_TYPE_SOFTWARE; attr.config = PERF_COUNT_SW_CPU_CLOCK; attr.freq = 1; attr.sample_freq = 99; attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID; attr.precise_ip = 2);
	EVENT(attr.type = PERF_TYPE_HW_CACHE; attr.config = 1 | 1 << 8 | 1 << 16; attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID);
	EVENT(attr.type = PERF_TYPE_TRACEPOINT; attr.config = 77; attr.sample_period = 1; attr.wakeup_events = 1; attr.size = 64);
	EVENT(attr.type = PERF_TYPE_BREAKPOINT; attr.bp_type = 2; attr.bp_addr = 0x1000; attr.bp_len = 4);
	EVENT(attr.type = PERF_TYPE_RAW; attr.config = 0x1c2; attr.watermark = 1; attr.wakeup_watermark = 5; attr.use_clockid = 1; attr.clockid = 1);
	EVENT(attr.type = 99; attr.config = 1; attr.sample_regs_user = 3; attr.sample_stack_user = 8);
	S(perf_event_open, 0, 0, -1, -1, 0);
}

static void vectors(void)
{
	static struct { uint64_t val, uaddr; uint32_t flags, pad; } waiters[2] = { { 1, 0x1000, 0x82 }, { 2, 0x2000, 2 } };
	static struct timespec ts = { 1, 2 };
	S(futex_waitv, waiters, 2, 0, &ts, 1);
	S(futex_waitv, waiters, 0, 1, 0, 0);

	struct iovec here[2] = { { value, 5 }, { key, 3 } }, there[1] = { { (void *)0x1000, 8 } };
	S(process_vm_readv, -1, here, 2, there, 1, 0);
	S(process_vm_writev, -1, here, 2, there, 1, 0);
	S(process_madvise, 99, here, 1, 20, 0);
	S(vmsplice, 99, here, 1, 2);
	S(preadv2, 99, here, 1, 0, 0, 8);
}

static void old_aio(void)
{
	aio_context_t context = 0;
	static struct iocb read = { .aio_data = 7, .aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = 99, .aio_nbytes = 16, .aio_offset = 32 },
		write = { .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = 99, .aio_nbytes = 5, .aio_flags = 1, .aio_resfd = 98 };
	read.aio_buf = P(value);
	write.aio_buf = P("words");
	struct iocb *both[] = { &read, &write };
	struct io_event events[2];
	struct timespec ts = { 0, 0 };
	S(io_setup, 3, &context);
	S(io_submit, 0, 2, both);
	S(io_submit, 0, 0, both);
	S(io_getevents, 0, 0, 2, events, &ts);
	S(io_cancel, 0, &read, events);
	int file = open("one", O_RDONLY);
	static struct iovec iov = { value, 16 };
	static struct iocb vector = { .aio_lio_opcode = IOCB_CMD_PREADV, .aio_nbytes = 1 }, sync = { .aio_lio_opcode = IOCB_CMD_FSYNC }, poll = { .aio_lio_opcode = 5, .aio_buf = 1 };
	vector.aio_buf = P(&iov);
	read.aio_fildes = vector.aio_fildes = sync.aio_fildes = poll.aio_fildes = file;
	struct iocb *two[] = { &read, &vector }, *more[] = { &sync, &poll };
	S(io_submit, context, 2, two);
	S(io_getevents, context, 2, 2, events, &ts);
	S(io_submit, 0, 2, more);
	read.aio_rw_flags = 8;
	read.aio_reqprio = 3;
	S(io_submit, 0, 1, both);
	S(io_submit, 0, 100, 8);
	close(file);
	S(io_destroy, 0);
}

static void mounts(void)
{
	static struct { uint64_t attr_set, attr_clr, propagation, userns_fd; } attr = { 1 | 8, 2, 1 << 18, 99 };
	S(mount_setattr, 99, "none", 0x8000, &attr, 32);
	S(mount_setattr, 99, "none", 0x8000, &attr, 8);
	static struct { uint32_t bytes; int type; unsigned char handle[128]; } handle = { 8, 1, { 1, 2, 3, 4, 5, 6, 7, 8 } };
	int mount = 0;
	S(open_by_handle_at, 99, &handle, O_RDONLY);
	handle.bytes = 4;
	S(name_to_handle_at, AT_FDCWD, "none", &handle, &mount, AT_SYMLINK_FOLLOW);
	S(quotactl, 0x80000700, "/none", 0, value);
	S(quotactl, 0x80000200, "/none", 2, "/none/quota");
	S(quotactl, 0x80000101, 0, 0, 0);
	S(quotactl_fd, 99, 0x80000700, 0, value);
}

static void rules(void)
{
	static struct { uint64_t fs; } set = { 5 };
	static struct { uint64_t access; int fd; } __attribute__((packed)) rule = { 4, 99 };
	S(landlock_create_ruleset, &set, 4, 0);
	S(landlock_add_rule, 99, 1, &rule, 0);
	S(landlock_add_rule, 99, 9, &rule, 0);
	S(landlock_restrict_self, 99, 0);
}

static void tasks(void)
{
	static struct { uint64_t w[11]; } args;
	static int tids[2] = { 7, 8 };
	args.w[0] = 0x1000; args.w[4] = 17; args.w[8] = P(tids); args.w[9] = 2; args.w[10] = 99;
	args.w[1] = P(value);
	args.w[9] = 99;
	S(clone3, &args, 88);
	args.w[0] = 0x100000000000;
	S(clone3, &args, 64);
	args.w[0] = 0x300001000;
	args.w[8] = args.w[9] = 0;
	S(clone3, &args, 88);
	S(clone3, &args, 8);
	static struct { uint32_t size, policy; uint64_t flags; int nice; uint32_t priority; uint64_t w[3]; uint32_t min, max; } attr = { 56, 0, 0x60, 1, 0, { 1, 2, 3 }, 4, 5 };
	S(sched_setattr, -1, &attr, 0);
	attr.size = 48; attr.flags = 1;
	S(sched_setattr, -1, &attr, 0);
	S(sched_getattr, 0, &attr, 56, 0);
	static struct { uint64_t flags, mode, resolve; } how = { O_RDWR | O_CREAT, 0644, 0x28 };
	S(openat2, 99, "none", &how, 24);
	S(openat2, 99, "none", &how, 8);
	sigset_t set;
	sigemptyset(&set);
	siginfo_t info = { .si_signo = SIGUSR1, .si_code = SI_QUEUE };
	S(pidfd_send_signal, 99, SIGUSR1, &info, 0);
	S(epoll_pwait2, 99, 0, 1, 0, &set, 8);
	S(close_range, 90, 99, 4);
}

static void keys(void)
{
	S(keyctl, 2, 1, "data", 4, 0);
	S(keyctl, 4, 1, 2, -1, 0);
	S(keyctl, 5, 1, 0x3f010000, 0, 0);
	S(keyctl, 6, 1, 0, 0, 0);
	S(keyctl, 10, -3, "user", "desc", 0);
	S(keyctl, 12, 1, "data", 4, 0);
	S(keyctl, 13, 1, 2, 0, 0);
	S(keyctl, 14, 99, 0, 0, 0);
	S(keyctl, 19, 1, 2, 3, 0);
	S(keyctl, 23, value, 0, 0, 0);
	S(keyctl, 24, 0, 0, 0, 0);
	S(keyctl, 77, 1, 2, 3, 4);
}

static void others(void)
{
	unsigned long nodes[2] = { 1, 0 };
	int mode = 0;
	S(mbind, 0x1000, 4096, 0x8002, nodes, 65, 3);
	S(set_mempolicy, 2, nodes, 65);
	S(set_mempolicy, 0, 0, 0);
	S(get_mempolicy, &mode, nodes, 65, 0, 0);
	S(get_mempolicy, &mode, 0, 0, others, 2);
	static struct utimbuf both = { 1, 2 };
	static struct timeval tv[2] = { { 1, 2 }, { 3, 0 } };
	S(utime, "/none", &both);
	S(utime, "/none", 0);
	S(utimes, "/none", tv);
	S(futimesat, AT_FDCWD, "/none", tv);
	S(delete_module, "none", 0x800);
	S(finit_module, 99, "a=b", 1);
	S(init_module, value, 4L, "x");
	static int head[] = { 0x20080522, 99999 }, data[] = { 1, 2, 3, 4, 5, 6 };
	S(capset, head, data);
	static struct sigevent notice = { .sigev_signo = SIGUSR1, .sigev_notify = SIGEV_SIGNAL };
	S(mq_notify, 99, &notice);
	static long queue[8] = { 0, 10, 100 };
	S(mq_getsetattr, 99, queue, queue);
	S(mq_open, "none/", O_RDWR | O_CREAT, 0600, queue);
	S(remap_file_pages, 0x1000, 4096, 0, 0, 0);
	static long robust[2];
	S(get_robust_list, 0, robust, robust + 1);
	static struct timeval wrong = { 1, 2000000 };
	S(settimeofday, &wrong, 0);
}

int main(void)
{
	maps();
	programs();
	rings();
	events();
	vectors();
	old_aio();
	mounts();
	rules();
	tasks();
	keys();
	others();
	return 0;
}
