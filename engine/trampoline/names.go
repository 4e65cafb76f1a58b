package trampoline

import (
	"gotap/engine/registry"
	"gotap/runtime/native"
)

// namesAt returns the texts that programs get at a placement, as package stopped has them.
func namesAt(pl *registry.Placement) *native.Names {
	if pl.Data || pl.Sample {
		return nil // they depend on where the thread is
	}
	return &native.Names{Func: pl.Func, Module: pl.Module, Probe: pl.Probe.Spec.Name}
}
