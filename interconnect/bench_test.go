package interconnect_test

import (
	"context"
	"fmt"
	"testing"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
)

// repeater starts its plan again whenever it ends.
type repeater struct {
	n     *interconnect.Network
	id    sim.HandlerID
	plans []nccl.Call
	left  int
}

func (r *repeater) Handle(_ *sim.Engine, kind uint16, arg uint32) error {
	if r.left > 0 {
		r.left--
		p := &r.plans[arg]
		r.n.Start(&p.Transfer, p.Base, r.id, kind, arg)
	}
	return nil
}

func repeat(b *testing.B, top *interconnect.Topology, plans []nccl.Call) {
	var e sim.Engine
	r := &repeater{n: interconnect.NewNetwork(&e, top), plans: plans, left: b.N}
	r.id = e.Register(r)
	for i := range plans {
		e.At(0, r.id, 0, uint32(i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := e.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkNetwork runs transfers back to back: each of the groups alone on
// its links, and groups that share them.
func BenchmarkNetwork(b *testing.B) {
	top, err := interconnect.Build(h100Node(8))
	if err != nil {
		b.Fatal(err)
	}
	lib, err := nccl.New(top, nccl.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	var tp, send []nccl.Call
	for g := range 16 {
		c, _ := lib.Communicator(nccl.AllReduce, []int{4 * g, 4*g + 1, 4*g + 2, 4*g + 3})
		p := c.Call(nccl.AllReduce, 1<<24+int64(g))
		tp = append(tp, p)
		for k := range 4 {
			s := lib.Send(4*g+k, (4*g+k+8)%64, 1<<22+int64(g))
			send = append(send, s)
		}
	}
	var dp []nccl.Call
	for k := range 4 {
		var members []int
		for d := k; d < 64; d += 4 {
			members = append(members, d)
		}
		c, _ := lib.Communicator(nccl.AllReduce, members)
		p := c.Call(nccl.ReduceScatter, 1<<40)
		dp = append(dp, p)
	}
	b.Run("under-gradients/groups=16", func(b *testing.B) { repeat(b, top, append(dp[:4:4], tp...)) })
	b.Run("alone/groups=1", func(b *testing.B) { repeat(b, top, tp[:1]) })
	b.Run("alone/groups=16", func(b *testing.B) { repeat(b, top, tp) })
	b.Run("shared/pairs=16", func(b *testing.B) { repeat(b, top, append(tp[:16:16], tp...)) })
	b.Run("sends=64", func(b *testing.B) { repeat(b, top, send) })
	b.Run("sends=128", func(b *testing.B) { repeat(b, top, append(send[:64:64], send...)) })
}

// BenchmarkAllToAll2048 is an exchange over 2,048 GPUs on 256 nodes: its plan
// from nothing, and one step of it as 2,048 messages on the network.
func BenchmarkAllToAll2048(b *testing.B) {
	top, err := interconnect.Build(h100Node(256))
	if err != nil {
		b.Fatal(err)
	}
	lib, _ := group(b, top, 1, nccl.Settings{})
	b.Run("plan", func(b *testing.B) {
		for range b.N {
			_, c := group(b, top, 2048, nccl.Settings{})
			p := c.Plan(nccl.AllToAll, 1<<30)
			if p.Uncontended() == 0 {
				b.Fatal("no time")
			}
		}
	})
	for _, shift := range []int{1, 8, 100} {
		plans := make([]nccl.Call, 2048)
		for i := range plans {
			plans[i] = lib.Send(i, (i+shift)%2048, 1<<20)
		}
		b.Run(fmt.Sprintf("step/shift=%d", shift), func(b *testing.B) {
			for range b.N {
				var e sim.Engine
				r := &repeater{n: interconnect.NewNetwork(&e, top), plans: plans}
				r.id = e.Register(r)
				for i, p := range plans {
					r.n.Start(&p.Transfer, p.Base, r.id, 0, uint32(i))
				}
				if err := e.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
