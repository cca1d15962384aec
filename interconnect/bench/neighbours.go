package bench

import (
	"errors"
	"strings"

	"trainsim/interconnect/nccl"
)

// Beside adds a collective that runs again and again until the one that is timed
// ends: OP:SIZE on the same ranks, or OP:SIZE@RANKS on others.
func (b *Bench) Beside(text string) error {
	job, ranks, elsewhere := strings.Cut(text, "@")
	name, size, ok := strings.Cut(job, ":")
	if !ok {
		return errors.New("write OP:SIZE or OP:SIZE@RANKS, as in all-gather:1G@0-7")
	}
	var op nccl.Op
	if err := op.UnmarshalText([]byte(name)); err != nil {
		return err
	}
	bytes, err := parseSize(size)
	if err != nil {
		return err
	}
	group := b.group
	if elsewhere {
		devices, err := parseRanks(ranks)
		if err != nil {
			return err
		}
		if group, err = b.library.Communicator(op, devices); err != nil {
			return err
		}
	}
	b.others = append(b.others, group.Call(op, bytes))
	return nil
}
