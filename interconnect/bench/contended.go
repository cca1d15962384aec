package bench

import (
	"context"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
)

// contended times a plan while the others run again and again beside it; it
// starts when their first bytes are on the links.
func (b *Bench) contended(ctx context.Context, p *nccl.Call) (sim.Time, error) {
	r := &rounds{}
	r.net = interconnect.NewNetwork(&r.engine, b.topology)
	r.id = r.engine.Register(r)
	r.calls = append([]nccl.Call{*p}, b.others...)
	var warm sim.Time
	for i := 1; i < len(r.calls); i++ {
		r.engine.At(0, r.id, restart, uint32(i))
		warm = max(warm, r.calls[i].Latency)
	}
	r.engine.At(warm, r.id, restart, 0)
	if err := r.engine.Run(ctx); err != nil {
		return 0, err
	}
	if r.end == 0 && r.engine.Overran() {
		return 0, b.tooLong(p)
	}
	return r.end - warm, nil
}

// Kinds of events of rounds; arg is the call.
const (
	restart uint16 = iota
	ended
)

// rounds restarts every call but the first until the first has ended.
type rounds struct {
	engine sim.Engine
	net    *interconnect.Network
	id     sim.HandlerID
	calls  []nccl.Call
	end    sim.Time
}

func (r *rounds) start(arg uint32) {
	c := &r.calls[arg]
	r.net.Start(&c.Transfer, c.Base, r.id, ended, arg)
}

// Handle starts a call or receives its end.
func (r *rounds) Handle(k *sim.Engine, kind uint16, arg uint32) error {
	switch {
	case kind == restart:
		r.start(arg)
	case arg == 0:
		r.end = k.Now()
	case r.end == 0 && r.calls[arg].Bytes > 0:
		r.start(arg)
	}
	return nil
}
