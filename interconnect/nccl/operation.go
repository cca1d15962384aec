package nccl

import (
	"fmt"
	"strings"
)

// Op is a collective operation.
type Op uint8

// Operations. A size is always that of the full vector: what a rank holds at
// the end of an all-gather or at the start of a reduce-scatter.
const (
	AllReduce Op = iota
	AllGather
	ReduceScatter
	Broadcast
	Reduce
	AllToAll
	SendRecv
)

var opNames = []string{"all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all", "send-recv"}

// Ops returns all operations.
func Ops() []Op {
	return []Op{AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AllToAll, SendRecv}
}

// String returns the operation's name.
func (o Op) String() string { return opNames[o] }

// UnmarshalText reads an operation; dashes and underscores may be left out or
// swapped, as in "all_reduce" or "alltoall".
func (o *Op) UnmarshalText(text []byte) error {
	plain := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(string(text)))
	for i, name := range opNames {
		if strings.ReplaceAll(name, "-", "") == plain {
			*o = Op(i)
			return nil
		}
	}
	return fmt.Errorf("unknown collective %q; write one of %s", text, strings.Join(opNames, ", "))
}

// BusFactor returns what turns the algorithm bandwidth (size over time) of an
// operation over n ranks into the bus bandwidth that nccl-tests prints.
func (o Op) BusFactor(n int) float64 {
	if n < 2 {
		return 1
	}
	switch o {
	case AllReduce:
		return 2 * float64(n-1) / float64(n)
	case AllGather, ReduceScatter, AllToAll:
		return float64(n-1) / float64(n)
	}
	return 1
}
