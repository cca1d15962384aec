package memory

// privatePool is a pair of pools of its own, as a CUDA graph or a MemPool has.
type privatePool struct {
	id        int
	base      int32 // index of its small pool; the large one follows
	abandoned bool  // its last user is gone: empty segments may be released
}

// MallocPrivate allocates from a private pool, made on first use, as during
// the capture of a CUDA graph.
func (a *Allocator) MallocPrivate(size int64, stream int, kind Kind, id int) (Ref, error) {
	if size <= 0 {
		return 0, nil
	}
	if size >= maxRequest {
		return 0, a.tooLarge(size, stream, kind)
	}
	return a.malloc(size, stream, kind, a.privatePool(id).base)
}

func (a *Allocator) privatePool(id int) *privatePool {
	k := len(a.privates)
	for k > 0 && a.privates[k-1].id > id {
		k--
	}
	if k > 0 && a.privates[k-1].id == id {
		a.privates[k-1].abandoned = false
		return &a.privates[k-1]
	}
	base := a.newPool(true, id)
	a.newPool(false, id)
	a.privates = append(a.privates, privatePool{})
	copy(a.privates[k+1:], a.privates[k:])
	a.privates[k] = privatePool{id: id, base: base}
	return &a.privates[k]
}

// ReleasePrivate says that the last user of a private pool is gone: from now
// on its cached segments go back to the driver like those of the default pool.
func (a *Allocator) ReleasePrivate(id int) {
	for k := range a.privates {
		if a.privates[k].id == id {
			a.privates[k].abandoned = true
		}
	}
}

// privateFree returns the idle bytes in private pools.
func (a *Allocator) privateFree() int64 {
	var bytes int64
	for k := range a.privates {
		base := a.privates[k].base
		for _, p := range []int32{base, base + 1} {
			for _, i := range a.poolBlocks(p) {
				bytes += a.blocks[i].size
			}
		}
	}
	return bytes
}
