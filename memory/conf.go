package memory

import "math"

// Conf holds the settings of PYTORCH_CUDA_ALLOC_CONF that decide where a
// block is placed. Fields that are zero mean PyTorch's defaults.
type Conf struct {
	// MaxSplitSize in bytes: blocks of this size and above are never split.
	// math.MaxInt64 when unlimited.
	MaxSplitSize int64
	// MaxNonSplitRounding in bytes: how much larger than the request an
	// unsplit block may be.
	MaxNonSplitRounding int64
	// GCThreshold is the share of the memory limit above which cached
	// segments are released before the driver is asked; 0 is off. It needs a
	// memory fraction.
	GCThreshold float64
	// Divisions are roundup_power2_divisions: entry i for sizes in
	// [2^i MiB, 2^(i+1) MiB). 0 is off.
	Divisions [16]int64
	// Expandable is expandable_segments.
	Expandable bool
	// Backend is "native" or "cudaMallocAsync". Only native is modelled; the
	// setting is kept so that a report can say so.
	Backend string

	text   string
	rounds bool // any division is above 1
}

// DefaultConf returns PyTorch's settings when the variable is not set.
func DefaultConf() Conf {
	return Conf{MaxSplitSize: math.MaxInt64, MaxNonSplitRounding: largeSegment, Backend: "native"}
}

// String returns the text from which the settings were parsed.
func (c Conf) String() string { return c.text }

// Equal reports whether two settings place blocks alike, whatever their text.
func (c Conf) Equal(d Conf) bool {
	c, d = c.normal(), d.normal()
	c.text, d.text = "", ""
	return c == d
}

// normal fills in what a literal Conf left out.
func (c Conf) normal() Conf {
	if c.MaxSplitSize == 0 {
		c.MaxSplitSize = math.MaxInt64
	}
	if c.MaxNonSplitRounding == 0 {
		c.MaxNonSplitRounding = largeSegment
	}
	if c.Backend == "" {
		c.Backend = "native"
	}
	c.rounds = false
	for _, d := range c.Divisions {
		c.rounds = c.rounds || d > 1
	}
	return c
}
