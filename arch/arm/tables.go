package arm

// The indexes of the instruction sets: A32 with a condition, A32 without, and Thumb of one and of two halfwords.
var (
	a32       = indexOf(rowsOf(a32Data), 20)
	a32Always = indexOf(nil, 20)
	thumb16   = indexOf(nil, 8)
	thumb32   = indexOf(nil, 20)
)

var a32Data = []line{
	{"cccc 00001000 NNNN DDDD 00000000 MMMM", "ADD", execAdd, option{}},
}

func execAdd(c *cpu, w uint32) error {
	return c.writeALU(w>>12&15, c.reg(w>>16&15)+c.reg(w&15))
}

func condT16(w uint32) uint32 { return 14 }
func condT32(w uint32) uint32 { return 14 }
