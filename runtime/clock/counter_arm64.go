package clock

import (
	"os"
	"strings"
)

// counter returns the virtual counter (CNTVCT_EL0), which counts alike on all processors and at one rate. Readings are
// in the order of the program.
func counter() uint64

// steady returns why the counter of the processor does not tell the time, or "". The kernel itself uses it for its
// clock.
func steady() string {
	name, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil || strings.TrimSpace(string(name)) != "arch_sys_counter" {
		return "the kernel does not use the processor's counter as its clock"
	}
	return ""
}
