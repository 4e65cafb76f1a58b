// Package dpdf reads probe definition files: the language of IBM's Dynamic Probes, for programs of users.
//
// A file goes through four stages, all in Parse. The scanner cuts lines into tokens that know where they stand. The
// preprocessor drops comments, follows #include, #define and #ifdef, and replaces macros; a token that a macro made
// stands where the macro was used. The parser takes the header's keywords, then for each probe its keywords and its
// commands. The emitter writes each command as commands of package compile. Every probe becomes a program of its own;
// a label that another probe of the file has brings that probe's commands with it. All errors are reported at once,
// in the order of the file.
//
// # Where the language differs from DProbes
//
// Words have 64 bits. The operand stack has 32 of them and neither wraps nor keeps what an earlier hit left, unless the header
// says "stack = circular". Every command takes what it uses from the stack: the conditional jumps too. sub is the next
// word minus the top one, neg is the two's complement, and not the one's complement. jmpmax becomes fuel: as many steps as
// that many jumps can lead to. An error ends the program, is counted, and discards the log of that hit. What cannot
// be verified, and what only a kernel has, is refused with the reason.
package dpdf
