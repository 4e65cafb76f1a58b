// Package core writes an ELF core file of a process that goes on running afterwards.
//
// A core is made in two steps. Describe reads what /proc tells of a process: its mappings with their flags, its
// auxiliary vector, its name and owner. The caller, who traces the process and keeps all its threads stopped, adds the
// registers of each and a way to read memory. Write lays the file out and fills it in: the ELF header, one program
// header for the notes and one for each mapping, the notes, then the mappings' contents, each at a page boundary.
//
// Contents that are zero are left as holes, and anonymous pages that the process never touched are not even read: a
// core of a process that reserved terabytes takes as much disk as the process takes memory. Like the kernel, Write
// leaves out what the process marked with MADV_DONTDUMP and what belongs to devices; those mappings have a header and no
// contents. Unlike the kernel by default, it holds the contents of mapped files, so that a core can be looked at where
// the program and its libraries are not.
//
// Describe and Write belong to one goroutine for each Process; nothing is shared between processes. While they run the
// caller sees to it that the process is stopped: otherwise the parts of the core do not fit together.
//
// The layout is that of the kernel's fs/binfmt_elf.c and of struct elf_prstatus and elf_prpsinfo in
// include/linux/elfcore.h, as described by core(5) and elf(5).
package core
