package nccl

import (
	"strings"

	"trainsim/interconnect"
	"trainsim/sim"
	"trainsim/sim/input"
)

// Settings are the [nccl] keys of a scenario: NCCL's environment variables of
// the same names, and which model is used.
type Settings struct {
	// Model is "nccl" (default: NCCL's algorithms, protocols and channels) or
	// "ideal" (rings at the links' own latency and bandwidth) or "free" (no
	// communication takes time, for comparing schedules with closed forms).
	Model string `toml:"model"`
	// Algo lists the allowed algorithms (NCCL_ALGO), empty for all.
	Algo []string `toml:"algo"`
	// Proto lists the allowed protocols (NCCL_PROTO), empty for the default.
	Proto []string `toml:"proto"`
	// MinChannels and MaxChannels bound the number of channels
	// (NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS); 0 leaves it to NCCL.
	MinChannels int `toml:"min_nchannels"`
	MaxChannels int `toml:"max_nchannels"`
	// BuffSize is the Simple protocol's buffer of a connection
	// (NCCL_BUFFSIZE); default 4MiB.
	BuffSize sim.Bytes `toml:"buffsize"`
	// P2PLevel is the farthest path of peer-to-peer copies (NCCL_P2P_LEVEL):
	// LOC, NVL, PIX, PXB, PHB or SYS, or NCCL's numbers 0 to 5; default PXB.
	P2PLevel string `toml:"p2p_level"`
	// P2PDisable turns peer-to-peer copies off (NCCL_P2P_DISABLE): GPUs of a
	// node reach each other through host memory.
	P2PDisable bool `toml:"p2p_disable"`
}

// Validate returns the first thing that is wrong with the settings, an
// [*input.Problem] with its key, or nil.
func (s *Settings) Validate() error {
	if s.Model != "" && s.Model != "nccl" && s.Model != "ideal" && s.Model != "free" {
		return input.Bad("model", "unknown model %q; write nccl, ideal or free", s.Model)
	}
	for _, a := range s.Algo {
		if _, err := ParseAlgorithm(a); err != nil {
			return input.Bad("algo", "%v", err)
		}
	}
	for _, p := range s.Proto {
		if _, err := ParseProtocol(p); err != nil {
			return input.Bad("proto", "%v", err)
		}
	}
	if s.MinChannels < 0 || s.MinChannels > maxChannels {
		return input.Bad("min_nchannels", "%d is out of range; write 1 to %d", s.MinChannels, maxChannels)
	}
	if s.MaxChannels < 0 || s.MaxChannels > maxChannels {
		return input.Bad("max_nchannels", "%d is out of range; write 1 to %d", s.MaxChannels, maxChannels)
	}
	if s.MaxChannels > 0 && s.MinChannels > s.MaxChannels {
		return input.Bad("min_nchannels", "%d is above max_nchannels = %d", s.MinChannels, s.MaxChannels).
			With("max_nchannels")
	}
	if s.BuffSize < 0 || s.BuffSize > 1<<30 {
		return input.Bad("buffsize", "%v is out of range; write up to 1GiB, such as 4MiB", s.BuffSize)
	}
	if _, ok := p2pLevels[strings.ToUpper(s.P2PLevel)]; s.P2PLevel != "" && !ok {
		return input.Bad("p2p_level", "unknown level %q; write LOC, NVL, PIX, PXB, PHB or SYS", s.P2PLevel)
	}
	return nil
}

// maxChannels is the most channels that a communicator has (NCCL 2.30).
const maxChannels = 64

// p2pLevels gives the farthest path type of a level's name or number. NCCL
// calls both of nvidia-smi's PHB and NODE "PHB".
var p2pLevels = map[string]interconnect.PathType{
	"LOC": interconnect.PathSelf, "NVL": interconnect.PathNVL, "NVB": interconnect.PathNVB,
	"PIX": interconnect.PathPIX, "PXB": interconnect.PathPXB, "PHB": interconnect.PathNODE,
	"NODE": interconnect.PathNODE, "SYS": interconnect.PathSYS,
	"0": interconnect.PathSelf, "1": interconnect.PathPIX, "2": interconnect.PathPXB, "3": interconnect.PathNODE,
	"4": interconnect.PathSYS, "5": interconnect.PathSYS,
}
