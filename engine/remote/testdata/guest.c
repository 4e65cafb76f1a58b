// The first process of a machine whose kernel is probed. It shows the kernel's functions, and then makes one process after another that
// opens a file and is asked with kill whether it is there.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void symbols(void) {
	char line[512];
	FILE *f = fopen("/proc/kallsyms", "r");
	while (f && fgets(line, sizeof line, f)) {
		char *type = strchr(line, ' ');
		if (type && strchr("tTW", type[1]) && !strchr(line, '['))
			fputs(line, stdout);
	}
	if (f)
		fclose(f);
}

int main(void) {
	mkdir("/proc", 0755);
	mount("proc", "/proc", "proc", 0, 0);
	symbols();
	puts("guest ready");
	fflush(stdout);
	for (;;) {
		pid_t p = fork();
		if (!p) {
			int f = open("/proc/version", O_RDONLY);
			close(f);
			_exit(0);
		}
		kill(p, 0);
		waitpid(p, 0, 0);
		printf("child %d\n", (int)p);
		fflush(stdout);
		usleep(100000);
	}
}
