package arm64

// otherRows is what is decoded so that functions can be read to their end, and never emulated.
var otherRows = []row{}

// notEmulated is the exec of refused classes; refused keeps it from being called.
func notEmulated(*cpu, uint32) error { return refusal("cannot emulate the instruction: not emulated") }
