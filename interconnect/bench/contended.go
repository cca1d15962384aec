package bench

import (
	"context"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
)

// contended times a plan while the others run again and again beside it; it
// starts when their first bytes are on the links.
func (b *Bench) contended(ctx context.Context, p *nccl.Plan) (sim.Time, error) {
	r := &rounds{}
	r.net = interconnect.NewNetwork(&r.engine, b.topology)
	r.id = r.engine.Register(r)
	r.transfers = append(r.transfers, &p.Transfer)
	for i := range b.others {
		r.transfers = append(r.transfers, &b.others[i].Transfer)
	}
	var warm sim.Time
	for i := 1; i < len(r.transfers); i++ {
		r.engine.At(0, r.id, restart, uint32(i))
		warm = max(warm, r.transfers[i].Latency)
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

// Kinds of events of rounds; arg is the transfer.
const (
	restart uint16 = iota
	ended
)

// rounds restarts every transfer but the first until the first has ended.
type rounds struct {
	engine    sim.Engine
	net       *interconnect.Network
	id        sim.HandlerID
	transfers []*interconnect.Transfer
	end       sim.Time
}

// Handle starts a transfer or receives its end.
func (r *rounds) Handle(k *sim.Engine, kind uint16, arg uint32) error {
	switch {
	case kind == restart:
		r.net.Start(r.transfers[arg], r.id, ended, arg)
	case arg == 0:
		r.end = k.Now()
	case r.end == 0 && r.transfers[arg].Bytes > 0:
		r.net.Start(r.transfers[arg], r.id, ended, arg)
	}
	return nil
}
