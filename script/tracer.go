package script

// Tracer is what a script's host needs of whoever places its probes. It is implemented where the engine and the script
// are joined, so that this package knows nothing of processes. All methods are safe for concurrent use.
type Tracer interface {
	// Add registers a probe made after the script had been loaded (in a callback), and arms it unless disabled.
	Add(p *Probe) error
	Enable(p *Probe) error
	Disable(p *Probe) error
	Remove(p *Probe) error
	Hits(p *Probe) uint64
	Missed(p *Probe) uint64
	// Places is how many places it is armed at.
	Places(p *Probe) uint64
	// Release lets a thread go that an exit.hold keeps.
	Release(ticket uint32)
	// Stop ends the run with a status; it returns at once.
	Stop(status int)
	// Symbol names an address of a process, also after it has ended: "func+0x10", file and line when known. Process 0 is
	// the first of the run in which the address is something.
	Symbol(pid int, addr uint64) Symbol
	// Stack expands return addresses of a process, inlined calls included, innermost first.
	Stack(pid int, pcs []uint64) []Symbol
	// ReadMemory reads memory of a stopped or running process; it returns how many bytes could be read.
	ReadMemory(pid int, addr uint64, p []byte) int
}

// Symbol is an address with its names; unknown parts are empty.
type Symbol struct {
	Addr   uint64
	Func   string
	Offset uint64 // in Func; without one the address in the file of Module, as nm prints it
	Module string // path of the file
	File   string
	Line   int
}
