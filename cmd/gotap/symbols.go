package main

import (
	"gotap/engine"
	"gotap/script"
)

// Symbol names an address of a process.
func (t *tracer) Symbol(pid int, addr uint64) script.Symbol {
	return symbol(t.session.Symbol(pid, addr))
}

// Stack names the return addresses of a stack.
func (t *tracer) Stack(pid int, pcs []uint64) []script.Symbol {
	var all []script.Symbol
	for _, s := range t.session.Stack(pid, pcs) {
		all = append(all, symbol(s))
	}
	return all
}

// ReadMemory reads memory of a process.
func (t *tracer) ReadMemory(pid int, addr uint64, p []byte) int {
	return t.session.ReadMemory(pid, addr, p)
}

func symbol(s engine.Symbol) script.Symbol { return script.Symbol(s) }
