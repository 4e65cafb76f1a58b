package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/emulate"
)

func newEmulate(w *World) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "emulate --arch NAME",
		Short: "Execute single instructions that standard input describes",
		Long: `emulate reads one JSON object a line,

  {"hex":"0100a0e1","pc":4096,"regs":{"r1":7},"cpsr":16,"mem":[{"addr":8192,"hex":"00ff"},{"addr":12288,"len":64}]}

executes that one instruction, and writes a line for each: all registers, and the bytes of memory
that changed,

  {"pc":4100,"regs":{"r0":7,"r1":7,…},"cpsr":16,"mem":[]}

or {"unsupported":"why"}, or {"fault":{"addr":N,"write":false}}. Bytes are in memory order; "len" stands for that many zero bytes, 16 MiB at most; of
entries that lie over each other the last one counts. All other memory faults. The instruction's own bytes can be read; where memory lies
at pc, they are what it holds, and can be written too. Registers that are not given are zero; numbers may also be strings, "0xff". A register that is
given by another name, such as "lr", is printed by that name too. Empty lines are skipped, and members of other names. A line that describes no state has
{"error":"line N: …"} for an answer; the others are answered all the same, and the exit status is 1.

--arch arm and thumb have r0 to r14, and the CPSR, whose T bit is what --arch says; that of a pointer to Thumb code is no part of its "pc". arm64 has x0 to x30, sp, and the flags as "nzcv", in bits
31 to 28, or, if the first that is not zero is below 16, as numbers of four bits. Those of x86 are "eflags", and its segments are flat but for "fs_base" and "gs_base". Where the flags are none of "regs", "cpsr" is taken for them. Vector registers are strings of hexadecimal digits in memory order: d0 to d31 with "fpscr" for arm and thumb, v0 to v31 with "fpcr"
and "fpsr" for arm64; they are printed when one of them was given or changed, as far as they are not zero. Registers of the system that a process can
read have to be given for that: "tpidruro", and for arm64 "tpidr_el0", "tpidrro_el0", "ctr_el0", "dczid_el0", "cntvct_el0" and the like.

Unsupported are what probes refuse: unpredictable, undefined and privileged encodings, system calls and breakpoints, other coprocessors, SETEND; of arm64 SVE,
SME, memory tags, memory copies and pointer authentication of data (pacga). Other pointer authentication does what it does where it is off. A store-exclusive alone
fails, as the monitor is clear.

On x86 all instructions on general registers are executed, also those that a probe has the processor step; a transaction aborts as it begins. Unsupported are x87, MMX, SSE and AVX, as a state has no such
registers; segment registers, far branches, and what only the processor can tell, such as cpuid; and exceptions other than faults of memory, such as a division by
zero. Flags that an instruction leaves undefined are those of AMD's processors; where the result is undefined too, as of shld of 16 bits by more than 16, the
instruction is unsupported.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if !emulate.Known(name) {
				return withStatus(statusUsage, fmt.Errorf("--arch %q is not arm, thumb, arm64, x86-64 or ia32", name))
			}
			return withStatus(statusFailure, emulate.Run(name, w.Stdin, w.Stdout))
		},
	}
	c.Flags().StringVar(&name, "arch", "", "arm, thumb, arm64, x86-64 or ia32")
	return c
}
