package space

import (
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/registry"
)

// CallersMoved has the programs placed anew of probes that count only calls of certain modules, where such modules were
// loaded or unloaded since the process had the modules before: native code knows where they are.
func (c *Patcher) CallersMoved(sp *Space, before []module.Loaded, probes []*registry.Probe) {
	for _, pr := range probes {
		if len(pr.Spec.From) == 0 || slices.Equal(pr.Callers(before), pr.Callers(sp.Modules)) {
			continue
		}
		for _, p := range sp.ByAddr {
			if pr.Has(p.Enters) {
				p.Jump.Runs = nil
				if err := c.Sync(p); err != nil {
					c.warnIn(sp, err)
				}
			}
		}
	}
}
