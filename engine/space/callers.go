package space

import (
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/registry"
)

// CallersMoved is called when the modules of a process have changed; before are the former ones. Some probes count only
// calls that certain modules make, and their native code contains the addresses of these modules. If those have
// changed, this native code is removed, and made again at the next hit.
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
