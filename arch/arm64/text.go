package arm64

import "sync"

// textMu serialises the disassembler of x/arch, which writes a package variable while it decodes.
var textMu sync.Mutex
