package nccl

import (
	"fmt"
	"strings"
)

// Algorithm is how NCCL runs a collective.
type Algorithm uint8

// Algorithms, in NCCL's order, which breaks ties; the settings may name those of
// CollNet, which need switches that reduce and are never chosen here. Direct is
// a plain point-to-point transfer or an exchange of them.
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

var algorithmNames = []string{
	"Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT", "Hierarchical", "Direct",
}

// String returns the algorithm's name as NCCL writes it.
func (a Algorithm) String() string { return algorithmNames[a] }

// sharp says whether NVSwitches reduce and multicast: NVLink SHARP.
func (a Algorithm) sharp() bool { return a == NVLS || a == NVLSTree }

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
func (p Protocol) String() string { return protocolNames[p] }

// ParseProtocol reads a protocol's name, in any case.
func ParseProtocol(text string) (Protocol, error) {
	i, err := indexOf("protocol", text, protocolNames)
	return Protocol(i), err
}

func indexOf(what, text string, names []string) (int, error) {
	for i, name := range names {
		if strings.EqualFold(name, text) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q; write one of %s", what, text, strings.Join(names, ", "))
}
