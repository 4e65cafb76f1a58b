// Package coredump writes an ELF core file of a process, which then continues.
//
// A core is made in two steps. Describe reads the process in /proc: its mappings with their flags, its
// auxiliary vector, its name and owner. The caller, who traces the process and keeps all its threads stopped, adds the
// registers of each and a way to read memory. Write lays the file out and fills it in: the ELF header, one program
// header for the notes and one for each mapping, the notes, then the mappings' contents, each at a page boundary.
//
// Zeros are left as holes, and anonymous pages that the process never accessed are not read: a
// core of a process that reserved terabytes uses as much disk as the process uses memory. Like the kernel, Write
// leaves out what the process marked with MADV_DONTDUMP and memory of devices; those mappings have a header and no
// contents. Unlike the kernel by default, it includes the contents of mapped files, so that a core is usable where
// the program and its libraries are missing.
//
// Describe and Write belong to one goroutine for each Process; processes share nothing. While they run the
// caller must keep the process stopped, or the core is inconsistent.
//
// The layout is that of the kernel's fs/binfmt_elf.c and of struct elf_prstatus and elf_prpsinfo in
// include/linux/elfcore.h, as described by core(5) and elf(5).
package coredump
