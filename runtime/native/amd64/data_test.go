package amd64

// dataAddr is where the memory begins that programs read.
const dataAddr = 0x2_0000_0000

// Constants of programs in the memory that they read, with a NUL behind each.
const (
	textsAddr = dataAddr + 0x600
	textsStep = 64
)

// dataPages are the pages from dataAddr on, as the tracee has them.
var dataPages = [...]pageKind{readable, unmapped, readable, protected, readable, beyondFile, readable, unmapped, readable}

// tabled are those of them that native code takes for readable, although some are not any more.
var tabled = [len(dataPages)]bool{0: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true}

type pageKind int

const (
	unmapped pageKind = iota
	readable
	protected  // mapped, but not readable
	beyondFile // a read raises SIGBUS
)

const (
	pageSize = 0x1000
	dataSize = len(dataPages) * pageSize
)
