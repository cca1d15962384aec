package code_test

import (
	"fmt"

	"trainsim/sim/code"
)

// While one half of an overlapped pair waits for its collective, the other
// computes.
func ExampleMerge() {
	half := func() *code.Block {
		return &code.Block{
			Code:   []code.Instr{{Kind: code.RunKernel}, {Kind: code.RunCollective}, {Kind: code.RunKernel}},
			Memory: make([][]code.MemoryOp, 3),
		}
	}
	words := map[code.InstrKind]string{code.RunKernel: "kernel", code.StartCollective: "start", code.WaitSlot: "wait"}
	for _, in := range code.Merge(half(), half()).Code {
		fmt.Print(words[in.Kind], " of ", in.Part, "; ")
	}
	// Output: kernel of 0; start of 0; kernel of 1; start of 1; wait of 0; kernel of 0; wait of 1; kernel of 1;
}
