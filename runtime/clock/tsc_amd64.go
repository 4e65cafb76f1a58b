package clock

import (
	"os"
	"slices"
	"strings"
)

// counter returns the time-stamp counter of the processor.
func counter() uint64

// steady returns why the counter of the processor does not tell the time, or "". The kernel itself uses it for its
// clock, or knows that all processors count alike, at one rate, also when they sleep.
func steady() string {
	const source = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
	trusted := []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page"}
	name, err := os.ReadFile(source)
	if s := strings.TrimSpace(string(name)); err != nil || !slices.Contains(trusted, s) {
		return "the kernel does not use the processor's counter as its clock"
	}
	flags := processorFlags()
	for _, flag := range []string{"constant_tsc", "nonstop_tsc"} {
		if !slices.Contains(flags, flag) {
			return "the processor's counter changes its rate (no " + flag + ")"
		}
	}
	return ""
}

// processorFlags returns the flags of the first processor.
func processorFlags() []string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
			return strings.Fields(value)
		}
	}
	return nil
}
