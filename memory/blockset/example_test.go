package blockset_test

import (
	"fmt"

	"trainsim/memory/blockset"
)

// The best fit is the smallest block that is large enough, the lowest address
// among equals.
func Example() {
	var s blockset.Set
	s.Insert(512, 0x400, 1)
	s.Insert(2048, 0x8000, 2)
	s.Insert(2048, 0x1000, 3)
	p := s.LowerBound(1024, 0)
	fmt.Println("block", s.At(p), "of", s.Len())
	s.Erase(p)
	fmt.Println("then block", s.At(s.LowerBound(1024, 0)))
	// Output:
	// block 3 of 3
	// then block 2
}
