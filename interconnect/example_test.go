package interconnect_test

import (
	"context"
	"fmt"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
)

// printer prints when transfers end.
type printer struct{}

func (printer) Handle(k *sim.Engine, _ uint16, arg uint32) error {
	fmt.Println("transfer", arg, "ends at", k.Now())
	return nil
}

// Two messages that leave through one network card share it.
func ExampleNetwork() {
	top, err := interconnect.Build(interconnect.Config{
		Nodes: 2, GPUsPerNode: 2, Sockets: 1, NICs: 1, NICBandwidth: 25e9, PCIeGen: 5,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var engine sim.Engine
	net := interconnect.NewNetwork(&engine, top)
	id := engine.Register(printer{})
	lib, err := nccl.New(top, nccl.Settings{Model: "ideal"})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := lib.Send(0, 2, 25e6), lib.Send(1, 3, 50e6)
	net.Start(&a.Transfer, a.Base, id, 0, 0)
	net.Start(&b.Transfer, b.Base, id, 0, 1)
	if err := engine.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// transfer 0 ends at 2.0006ms
	// transfer 1 ends at 3.0006ms
}
