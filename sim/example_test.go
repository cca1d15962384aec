package sim_test

import (
	"context"
	"fmt"

	"trainsim/sim"
)

// link sends one transfer after the other; arg counts those that are left.
type link struct{ id sim.HandlerID }

func (l *link) Handle(k *sim.Engine, _ uint16, left uint32) error {
	fmt.Printf("%-7v %d left\n", k.Now(), left)
	if left > 0 {
		k.After(sim.TransferTime(1<<20, 450e9), l.id, 0, left-1)
	}
	return nil
}

func Example() {
	var k sim.Engine
	l := &link{}
	l.id = k.Register(l)
	k.At(sim.Microsecond, l.id, 0, 2)
	if err := k.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(k.Processed(), "events")
	// Output:
	// 1us     2 left
	// 3.33017us 1 left
	// 5.66034us 0 left
	// 3 events
}

func ExampleParseBandwidth() {
	rate, err := sim.ParseBandwidth("400Gb/s")
	fmt.Println(rate, err)
	_, err = sim.ParseBandwidth("400")
	fmt.Println(err)
	// Output:
	// 50GB/s <nil>
	// "400" has no unit; write something like "450GB/s"
}
