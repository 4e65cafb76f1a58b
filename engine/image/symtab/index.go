package symtab

import "hash/maphash"

// nameIndex finds names by hash. heads are the starts of chains, next continues them; both count names from 1. It takes
// eight bytes for each name, a map about fifty.
type nameIndex struct {
	seed        maphash.Seed
	names       []named
	heads, next []int32
}

// indexNames returns an index of names, which it keeps.
func indexNames(names []named) nameIndex {
	n := 1
	for n < len(names) {
		n *= 2
	}
	x := nameIndex{seed: maphash.MakeSeed(), names: names, heads: make([]int32, n), next: make([]int32, len(names))}
	for i := len(names) - 1; i >= 0; i-- { // so that chains are in the order of addresses
		h := maphash.String(x.seed, names[i].name) & uint64(n-1)
		x.next[i], x.heads[h] = x.heads[h], int32(i+1)
	}
	return x
}

// find returns the entries of a name by address.
func (x *nameIndex) find(name string) []named {
	if len(x.names) == 0 {
		return nil
	}
	var found []named
	h := maphash.String(x.seed, name) & uint64(len(x.heads)-1)
	for i := x.heads[h]; i != 0; i = x.next[i-1] {
		if x.names[i-1].name == name {
			found = append(found, x.names[i-1])
		}
	}
	return found
}
