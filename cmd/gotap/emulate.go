package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gotap/cmd/gotap/emulate"
	"gotap/cmd/gotap/status"
)

func newEmulate(w *World) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "emulate --arch NAME",
		Short: "Execute single instructions described on standard input",
		Long: `emulate reads one JSON object a line,

  {"hex":"0100a0e1","pc":4096,"regs":{"r1":7},"cpsr":16,"mem":[{"addr":8192,"hex":"00ff"},{"addr":12288,"len":64}]}

executes that one instruction, and writes a line for each: all registers, and the bytes of memory
that changed,

  {"pc":4100,"regs":{"r0":7,"r1":7,…},"cpsr":16,"mem":[]}

or {"unsupported":"why"}, or {"fault":{"addr":N,"write":false}}. Bytes are in memory order; "len" means that many zero bytes, at most 16 MiB. Where entries overlap,
the last one counts. Accesses to any other memory fault. The instruction's own bytes are readable; where "mem" covers pc, its bytes are
used instead, and are writable. Registers that are not given are zero. Numbers may also be strings, as "0xff". A register that is
given by another name, such as "lr", is also printed by that name. Empty lines and unknown members are skipped. The answer to a line
that does not describe a state is {"error":"line N: …"}; the other lines are still answered, and the exit status is 1.

--arch arm and thumb have r0 to r14 and the CPSR, whose T bit follows --arch; "pc" never has the Thumb bit. arm64 has x0 to x30, sp,
and the flags as "nzcv": in bits 31 to 28, or, if the first value that is not zero is below 16, as a number of four bits. The flags of
x86 are "eflags"; its segments are flat, except for "fs_base" and "gs_base". Where "regs" does not contain the flags, "cpsr" is used.
Vector registers are strings of hexadecimal digits in memory order: d0 to d31 with "fpscr" for arm and thumb, v0 to v31 with "fpcr"
and "fpsr" for arm64. Those that are not zero are printed when one of them was given or changed. System registers that a process can
read are readable only if given: "tpidruro", and for arm64 "tpidr_el0", "tpidrro_el0", "ctr_el0", "dczid_el0", "cntvct_el0" and so on.

Unsupported is what probes refuse: unpredictable, undefined and privileged encodings, system calls and breakpoints, other
coprocessors, SETEND; of arm64 SVE, SME, memory tags, memory copies and pointer authentication of data (pacga). Other pointer
authentication behaves as where it is off. A store-exclusive on its own fails, because the monitor is clear.

On x86 all instructions on general registers are executed, including those that probes leave to the processor; a transaction aborts
as it begins. Unsupported are x87, MMX, SSE and AVX, because a state does not contain their registers; segment registers, far
branches, and what only the processor knows, such as cpuid; and exceptions other than memory faults, such as a division by zero.
Undefined flags are those of AMD's processors; an instruction whose result is undefined too, as shld of 16 bits by more than 16, is
unsupported.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if !emulate.Known(name) {
				return status.With(status.Usage, fmt.Errorf("--arch %q is not arm, thumb, arm64, x86-64 or ia32", name))
			}
			return status.With(status.Failure, emulate.Run(name, w.Stdin, w.Stdout))
		},
	}
	c.Flags().StringVar(&name, "arch", "", "arm, thumb, arm64, x86-64 or ia32")
	return c
}
