package emulate

import (
	"errors"

	"gotap/arch/arm64"
)

// memory is everything that an instruction can access besides the usual registers. It implements arch.Memory,
// arm64.System and arm.ThreadPointer.
type memory struct {
	windows
	system []systemValue
}

// systemValue is a system register that was given.
type systemValue struct {
	name  string
	value uint64
}

// systemNames are the registers of ARM that a process reads by MRS or MRC and that only the system knows; they have to
// be given.
var systemNames = map[string][]string{
	"arm":   {"tpidruro"},
	"thumb": {"tpidruro"},
	"arm64": {"tpidr_el0", "tpidrro_el0", "tpidr2_el0", "ctr_el0", "dczid_el0", "cntfrq_el0", "cntvct_el0", "cntpct_el0"},
}

// value finds a system register; nil when it was not given.
func (m *memory) value(name string) *uint64 {
	for i := range m.system {
		if m.system[i].name == name {
			return &m.system[i].value
		}
	}
	return nil
}

// ReadSystem is part of arm64.System.
func (m *memory) ReadSystem(r arm64.Register) (uint64, error) {
	if v := m.value(r.String()); v != nil {
		return *v, nil
	}
	return 0, &arm64.SystemError{Register: r}
}

// WriteSystem is part of arm64.System.
func (m *memory) WriteSystem(r arm64.Register, v uint64) error {
	p := m.value(r.String())
	if p == nil {
		return &arm64.SystemError{Register: r}
	}
	*p = v
	return nil
}

// MaintainCache has nothing to do: there is no cache.
func (m *memory) MaintainCache(arm64.Operation, uint64) error { return nil }

// ThreadPointer is part of arm.ThreadPointer.
func (m *memory) ThreadPointer() (uint32, error) {
	if v := m.value("tpidruro"); v != nil {
		return uint32(*v), nil
	}
	return 0, errors.New("the value of tpidruro is not known")
}
