package interconnect

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
	numOps
)

var opNames = []string{"all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all", "send-recv"}

// String returns the operation's name.
func (o Op) String() string { return nameOf(int(o), opNames) }

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

// Algorithm is how NCCL runs a collective.
type Algorithm uint8

// Algorithms, in NCCL's order, which breaks ties. Direct is a plain
// point-to-point transfer or an exchange of them.
const (
	Tree Algorithm = iota
	Ring
	CollNetDirect
	CollNetChain
	NVLS
	NVLSTree
	PAT
	Hierarchical
	Direct
	numAlgorithms
)

var algorithmNames = []string{"Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT", "Hierarchical", "Direct"}

// String returns the algorithm's name as NCCL writes it.
func (a Algorithm) String() string { return nameOf(int(a), algorithmNames) }

// ParseAlgorithm reads an algorithm's name, in any case.
func ParseAlgorithm(text string) (Algorithm, error) {
	i, err := indexOf("algorithm", text, algorithmNames)
	return Algorithm(i), err
}

// Protocol is how NCCL moves data over a connection.
type Protocol uint8

// Protocols, in NCCL's order, which breaks ties.
const (
	LL     Protocol = iota // 8-byte lines, half of them flags
	LL128                  // 128-byte lines, 8 bytes of them flags
	Simple                 // whole slices, flag afterwards
	numProtocols
)

var protocolNames = []string{"LL", "LL128", "Simple"}

// String returns the protocol's name as NCCL writes it.
func (p Protocol) String() string { return nameOf(int(p), protocolNames) }

// ParseProtocol reads a protocol's name, in any case.
func ParseProtocol(text string) (Protocol, error) {
	i, err := indexOf("protocol", text, protocolNames)
	return Protocol(i), err
}
