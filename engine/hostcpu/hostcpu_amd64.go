package hostcpu

// cpuid executes the instruction: leaf in eax, subleaf in ecx.
func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// HasShadowStacks reports whether programs may have shadow stacks (CET_SS), if the kernel lets them.
func HasShadowStacks() bool {
	const shadowStacks = 1 << 7
	if last, _, _, _ := cpuid(0, 0); last < 7 {
		return false
	}
	_, _, ecx, _ := cpuid(7, 0)
	return ecx&shadowStacks != 0
}

// HasTransactions reports whether xbegin is an instruction (RTM). A processor whose transactions have been switched off may say that it has
// none, and still executes xbegin: its transactions abort at once (Intel SDM vol. 2, CPUID, leaf 7: RTM_ALWAYS_ABORT).
func HasTransactions() bool {
	const rtm, alwaysAborts = 1 << 11, 1 << 11
	if last, _, _, _ := cpuid(0, 0); last < 7 {
		return false
	}
	_, ebx, _, edx := cpuid(7, 0)
	return ebx&rtm != 0 || edx&alwaysAborts != 0
}
