package main

import (
	"fmt"
	gort "runtime"
	"time"

	"gotap/runtime"
)

// benchSteps is how many times the loop of the interpreter's benchmark runs in one hit; a hit's fuel has to suffice.
const benchSteps = 1000

// benchMachine measures the interpreter alone: simple steps a second on one core, and allocations.
func benchMachine(w *World) {
	arena, err := runtime.NewArena(runtime.ArenaOptions{})
	if err != nil {
		fmt.Fprintf(w.Stdout, "interpreter: %v\n", err)
		return
	}
	defer arena.Close()
	machine, hit := runtime.NewMachine(arena), &runtime.Hit{}
	code := benchCode()
	ctx := &runtime.Context{Word: 8}
	var steps, hits uint64
	before := allocations()
	began := time.Now()
	for ; time.Since(began) < benchMachineTime; hits++ {
		hit.Reset()
		steps += uint64(machine.Run(code, ctx, hit).Steps)
	}
	rate := float64(steps) / time.Since(began).Seconds() / 1e6
	each := float64(allocations()-before) / float64(hits)
	fmt.Fprintf(w.Stdout, "interpreter: %.0f million simple steps a second, %.2f allocations a hit\n", rate, each)
}

const benchMachineTime = time.Second

// allocations counts those of this process so far.
func allocations() uint64 {
	var m gort.MemStats
	gort.ReadMemStats(&m)
	return m.Mallocs
}

// benchCode adds up a scratch word: v = 0; n times: v = (v + 3) ^ 5.
func benchCode() *runtime.Code {
	return &runtime.Code{Stack: 4, Temps: 1, Fuel: 20 * benchSteps, Insts: []runtime.Inst{
		{Op: runtime.OpPushD, V: benchSteps},
		{Op: runtime.OpPushTV, A: 0},
		{Op: runtime.OpPushD, V: 3},
		{Op: runtime.OpAdd},
		{Op: runtime.OpPushD, V: 5},
		{Op: runtime.OpXor},
		{Op: runtime.OpPopTV, A: 0},
		{Op: runtime.OpLoop, A: 1},
		{Op: runtime.OpExit},
	}}
}
