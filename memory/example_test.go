package memory_test

import (
	"errors"
	"fmt"

	"trainsim/memory"
)

// A 15 MiB request fails although 22 MiB of the reserve are idle: the idle
// pieces share segments with live blocks and are all too small.
func ExampleAllocator() {
	a := memory.New(memory.Config{Capacity: 40 << 20})
	var refs []memory.Ref
	for range 4 {
		r, _ := a.Malloc(9<<20, 0, memory.Activations)
		refs = append(refs, r)
	}
	a.Free(refs[0])
	a.Free(refs[2])
	_, err := a.Malloc(15<<20, 0, memory.Activations)
	fmt.Println(err)
	var oom *memory.OutOfMemory
	if errors.As(err, &oom) {
		fmt.Println("largest idle piece:", memory.FormatSize(oom.LargestIdle), "fragmented:", oom.Fragmented())
	}
	// Output:
	// CUDA out of memory. Tried to allocate 16.00 MiB. GPU 0 has a total capacity of 40.00 MiB of which 0 bytes is free. Of the allocated memory 18.00 MiB is allocated by PyTorch, and 22.00 MiB is reserved by PyTorch but unallocated.
	// largest idle piece: 9.00 MiB fragmented: true
}

// Settings are read in PyTorch's own grammar and refused with advice.
func ExampleParseConf() {
	c, err := memory.ParseConf("max_split_size_mb:128,expandable_segments:True")
	fmt.Println(c.MaxSplitSize>>20, c.Expandable, err)
	_, err = memory.ParseConf("max_split_size_mb:10")
	fmt.Println(err)
	// Output:
	// 128 true <nil>
	// max_split_size_mb: 10 is too small; write a number of MiB of at least 20
}
