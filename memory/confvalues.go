package memory

import (
	"math"
	"math/bits"
	"strconv"

	"trainsim/sim/input"
)

// number reads a whole number that is not negative.
func (p *confParser) number(example string) (uint64, error) {
	n, err := strconv.ParseUint(p.peek(), 10, 64)
	if err != nil {
		return 0, p.fail("%s is not a whole number; write one, as in %s", input.Quote(p.peek()), example)
	}
	p.i++
	return n, nil
}

// megabytes reads a size in MiB of at least 20; sizes that bytes cannot
// count mean unlimited.
func (p *confParser) megabytes(to *int64) error {
	n, err := p.number(p.key + ":128")
	if err != nil {
		return err
	}
	if n < uint64(largeSegment/mib) {
		return p.fail("%d is too small; write a number of MiB of at least %d", n, largeSegment/mib)
	}
	*to = math.MaxInt64
	if n < uint64(math.MaxInt64/mib) {
		*to = int64(n) * mib
	}
	return nil
}

func (p *confParser) threshold(c *Conf) error {
	x, err := strconv.ParseFloat(p.peek(), 64)
	if err != nil || !(x > 0 && x < 1) {
		return p.fail("%s is not a share of the memory limit; write a number above 0.0 and below 1.0, as in 0.8",
			input.Quote(p.peek()))
	}
	p.i++
	c.GCThreshold = x
	return nil
}

func (p *confParser) boolean(to *bool) error {
	switch p.peek() {
	case "True", "False":
		*to = p.peek() == "True"
		p.i++
		return nil
	}
	return p.fail("%s is not a truth value; write True or False", input.Quote(p.peek()))
}

// flag reads a truth value that has no effect on placement.
func (p *confParser) flag(*Conf) error {
	var ignored bool
	return p.boolean(&ignored)
}

func (p *confParser) backend(c *Conf) error {
	switch p.peek() {
	case "native", "cudaMallocAsync":
		c.Backend = p.peek()
		p.i++
		return nil
	}
	return p.fail("%s is not an allocator; write native or cudaMallocAsync", input.Quote(p.peek()))
}

func (p *confParser) threads(*Conf) error {
	n, err := p.number("pinned_num_register_threads:8")
	if err != nil {
		return err
	}
	if bits.OnesCount64(n) != 1 || n > 128 {
		return p.fail("%d is not a number of threads; write a power of two up to 128", n)
	}
	return nil
}

func (p *confParser) pinnedSegment(*Conf) error {
	n, err := p.number("pinned_reserve_segment_size_mb:64")
	if err == nil && n == 0 {
		return p.fail("0 is too small; write a number of MiB above 0")
	}
	return err
}

// divisions reads one power of two for all sizes, or a list of size:divisions.
func (p *confParser) divisions(c *Conf) error {
	if p.peek() == "[" {
		p.i++
		return p.divisionList(c)
	}
	d, err := p.division("roundup_power2_divisions:4")
	if err != nil {
		return err
	}
	if d == 0 {
		return p.fail("0 is not a power of two; leave the setting out to round to 512 bytes")
	}
	for i := range c.Divisions {
		c.Divisions[i] = d
	}
	return nil
}

func (p *confParser) division(example string) (int64, error) {
	n, err := p.number(example)
	if err != nil {
		return 0, err
	}
	if n != 0 && (bits.OnesCount64(n) != 1 || n > 1<<40) {
		return 0, p.fail("%d divisions; write a power of two, or 0 in a list to round to 512 bytes", n)
	}
	return int64(n), nil
}

// divisionList reads the entries up to the closing bracket. The first entry
// also serves all smaller sizes, ">" everything above the entry before it.
func (p *confParser) divisionList(c *Conf) error {
	last, first := 0, true
	for p.peek() != "]" {
		at, above, err := p.interval()
		if err != nil {
			return err
		}
		d, err := p.division("[256:4,512:2,>:1]")
		if err != nil {
			return err
		}
		from, to := at, at+1
		switch {
		case above:
			from, to = last+1, len(c.Divisions)
		case first:
			from, first = 0, false
		}
		for i := from; i < to; i++ {
			c.Divisions[i] = d
		}
		if !above {
			last = at
		}
		if p.peek() == "]" {
			break
		}
		if err := p.expect(",", "an entry of the list"); err != nil {
			return err
		}
	}
	p.i++
	return nil
}

// interval reads "MiB:" or ">:" and returns which bucket it means.
func (p *confParser) interval() (at int, above bool, err error) {
	switch p.peek() {
	case "":
		return 0, false, p.fail("the list is not closed; write ] at its end")
	case ">":
		p.i++
		return 0, true, p.expect(":", "the size")
	}
	n, err := p.number("[256:4,512:2,>:1]")
	if err != nil {
		return 0, false, err
	}
	if bits.OnesCount64(n) != 1 {
		return 0, false, p.fail("%d is not an interval; write its size in MiB as a power of two, or >", n)
	}
	at = min(bits.Len64(n)-1, len(Conf{}.Divisions)-1)
	return at, false, p.expect(":", "the size")
}
