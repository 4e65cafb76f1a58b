// Package coredump writes an ELF core file of a process, which then continues.
//
// Writing a core takes two steps. Describe reads the process in /proc: its mappings with their flags, its auxiliary
// vector, its name and owner. The caller traces the process and keeps all its threads stopped. It adds the registers of
// each thread and a function that reads memory. Write lays out the file and fills it: the ELF header, one program
// header for the notes and one for each mapping, the notes, then the contents of the mappings, each at a page boundary.
//
// Zeros become holes, and anonymous pages that the process never accessed are not read. So a core of a process that
// reserved terabytes uses as much disk space as the process uses memory. Like the kernel, Write omits memory that the
// process marked with MADV_DONTDUMP and memory of devices; those mappings have a header and no contents. Unlike the
// kernel by default, it includes the contents of mapped files, so that a core is usable where the program and its
// libraries are missing.
//
// Describe and Write must run on one goroutine for each Process; processes share nothing. The caller must keep the
// process stopped while they run, or the core is inconsistent.
//
// The layout is that of the kernel's fs/binfmt_elf.c and of struct elf_prstatus and elf_prpsinfo in
// include/linux/elfcore.h, as described by core(5) and elf(5).
package coredump
