package topo_test

import (
	"fmt"
	"strings"

	"trainsim/interconnect"
	"trainsim/interconnect/topo"
)

// A posted table, with two cells that lost the space between them.
func ExampleParse() {
	m, err := topo.Parse(strings.NewReader(`
	GPU0	GPU1	GPU2	GPU3	CPU Affinity	NUMA Affinity
GPU0	 X 	NV4	SYSSYS	0-15	0
GPU1	NV4	 X 	SYS	SYS	0-15	0
GPU2	SYS	SYS	 X 	NV4	16-31	1
GPU3	SYS	SYS	NV4	 X 	16-31	1
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	top, err := interconnect.Build(interconnect.Config{Topology: m, NVLinkBandwidth: 25e9})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(top.Islands([]int{0, 1, 2, 3}), top.PathType(0, 3))
	// Output: [[0 1] [2 3]] SYS
}
