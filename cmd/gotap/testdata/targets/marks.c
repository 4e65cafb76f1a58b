/* Stands in for a PostgreSQL server: it has some of its static marks, and "runs" two queries. */
#include <stdio.h>
#include <sys/sdt.h>
#include <unistd.h>

static void query(const char *sql, int ms)
{
	DTRACE_PROBE1(postgresql, statement__status, sql);
	DTRACE_PROBE1(postgresql, query__start, sql);
	DTRACE_PROBE1(postgresql, query__parse__start, sql);
	DTRACE_PROBE1(postgresql, query__parse__done, sql);
	usleep(ms * 1000);
	DTRACE_PROBE1(postgresql, transaction__commit, 1);
	DTRACE_PROBE1(postgresql, query__done, sql);
	DTRACE_PROBE1(postgresql, statement__status, (char *)0);
}

int main(void)
{
	query("select 1", 1);
	query("select  *\nfrom slow", 900);
	puts("served");
	return 0;
}
