package gpu

import (
	"math"

	"trainsim/sim"
)

// PowerCost says how the board's power limit slows the tensor cores down.
//
// Dynamic power grows with the share u of the peak rate that a kernel reaches
// at full clock, and with the cube of the clock, because the voltage follows
// the clock. A board that can feed a share FullClock for ever therefore runs a
// kernel of share u > FullClock at a clock of (FullClock/u)^(1/Exponent).
type PowerCost struct {
	// FullClock is the share of the peak rate that the power limit allows for
	// ever at full clock; 1 means that the limit never bites.
	FullClock float64 `toml:"full_clock_share"`
	// Sustained is the share that is left in training, when the board is hot and
	// leaks more; 0 where it is the same.
	Sustained float64 `toml:"sustained_share"`
	// Exponent is how power grows with the clock: 3 in theory.
	Exponent float64 `toml:"exponent"`
	// Patience is how long the board may exceed its limit before the clock falls.
	// Training is always longer; a benchmark of one short kernel is not.
	Patience sim.Time `toml:"patience"`
}

func (p *PowerCost) check(c *checks) {
	c.share("power.full_clock_share", p.FullClock)
	c.within("power.sustained_share", p.Sustained, 0, 1)
	if !(p.Exponent >= 1) || math.IsInf(p.Exponent, 0) {
		c.fail("power.exponent", "is %g; write 1 or more, 3 in theory", p.Exponent)
	}
	c.notNegative("power.patience", float64(p.Patience))
}

// slowdown is the factor by which the power limit stretches a kernel that
// reaches the share u of the peak rate at full clock.
func (p *PowerCost) slowdown(u float64) float64 { return p.stretch(u, p.FullClock) }

// sustained is the slowdown in training.
func (p *PowerCost) sustained(u float64) float64 {
	if p.Sustained > 0 {
		return p.stretch(u, p.Sustained)
	}
	return p.slowdown(u)
}

// stretch is the slowdown where the limit feeds the share fed at full clock.
func (p *PowerCost) stretch(u, fed float64) float64 {
	if u <= fed {
		return 1
	}
	return math.Pow(u/fed, 1/p.Exponent)
}

// briefly is the slowdown of a kernel that is all the device does for busy
// seconds: full clock while that is short against Patience, then the same.
func (p *PowerCost) briefly(u, busy float64) float64 {
	patience := p.Patience.Seconds()
	if busy <= 0 {
		return 1
	}
	x := patience / busy
	return 1 + (p.slowdown(u)-1)/(1+float64(x*x))
}
