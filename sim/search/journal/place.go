package journal

import (
	"encoding/hex"
	"fmt"

	"trainsim/sim/report"
)

// place is where a point's row stands; length 0 is nowhere.
type place struct {
	offset int64
	length int32
	line   int32 // from 1; 0 in a row of this process
	failed bool  // the row says that the simulation failed
	id     [16]byte
	result sum // of what the row says
}

func placeOf(e *Entry) place {
	p := place{offset: e.Offset, length: int32(e.Length), line: int32(e.Line), result: e.result}
	p.failed = e.Row.Outcome == report.OutcomeFailed
	hex.Decode(p.id[:], []byte(e.Row.ID)) //nolint:errcheck // a row that was checked has an identity
	return p
}

// fate is what becomes of a row when a later one of its point comes.
type fate uint8

const (
	replaced fate = iota
	kept
	contradicted
)

// by returns what a later row makes of one: it takes the place of none, of one
// that failed and of one whose scenario was another. A result outlives a failure,
// and two results of one scenario cannot both be right.
func (p *place) by(next *place) fate {
	switch {
	case p.length == 0 || p.failed || p.id != next.id:
		return replaced
	case next.failed || p.result == next.result:
		return kept
	}
	return contradicted
}

// Conflict is the error of two rows of one point of which one has to be wrong.
type Conflict struct {
	Path      string
	Line      int
	Point     int
	Scenario  bool // they are of different scenarios
	Other     string
	OtherLine int
}

// Error names the rows.
func (c *Conflict) Error() string {
	how := "has another result than"
	if c.Scenario {
		how = "is of another scenario than"
	}
	return fmt.Sprintf("%s:%d: point %d %s is at %s:%d", c.Path, c.Line, c.Point, how, c.Other, c.OtherLine)
}
