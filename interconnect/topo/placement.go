package topo

import (
	"fmt"
	"strings"

	"trainsim/interconnect"
)

// Placement is the advice for tensor parallelism in words.
func (s *Survey) Placement() string {
	if len(s.Groups[0]) < 2 {
		return "one GPU, nothing to place"
	}
	text := fmt.Sprintf("%s, joined by %s", Groups(s.Groups), joinedBy(s.Joined))
	if len(s.Groups) > 1 {
		text += "; larger groups cross slower links"
	}
	return text
}

func joinedBy(p interconnect.PathType) string {
	switch p {
	case interconnect.PathNVL:
		return "NVLink"
	case interconnect.PathPIX:
		return "one PCIe switch"
	case interconnect.PathPXB:
		return "PCIe switches"
	case interconnect.PathPHB:
		return "a host bridge"
	case interconnect.PathNODE:
		return "a CPU socket"
	}
	return "the CPU sockets"
}

// Groups writes groups of devices, as in "{0 1} {2 3}".
func Groups(groups [][]int) string {
	parts := make([]string, len(groups))
	for i, g := range groups {
		parts[i] = "{" + strings.Trim(fmt.Sprint(g), "[]") + "}"
	}
	return strings.Join(parts, " ")
}
