package bench

import (
	"context"
	"fmt"

	"trainsim/interconnect"
	"trainsim/interconnect/nccl"
	"trainsim/sim"
)

// Bench is a group of devices that runs one collective.
type Bench struct {
	topology *interconnect.Topology
	library  *nccl.Library
	op       nccl.Op
	group    *nccl.Communicator
	others   []nccl.Call // what runs beside it
}

// New makes the group of a cluster's first ranks for a collective.
func New(t *interconnect.Topology, s nccl.Settings, op nccl.Op, ranks int) (*Bench, error) {
	lib, err := nccl.New(t, s)
	if err != nil {
		return nil, err
	}
	group, err := lib.Communicator(op, nccl.First(ranks))
	if err != nil {
		return nil, err
	}
	return &Bench{topology: t, library: lib, op: op, group: group}, nil
}

// Table is what a benchmark prints.
type Table struct {
	Collective string `json:"collective"`
	// Cluster and With name the cluster and what ran beside the collective.
	Cluster string   `json:"cluster"`
	Ranks   int      `json:"ranks"`
	Nodes   int      `json:"nodes"`
	With    []string `json:"with,omitempty"`
	// Memory is what NCCL holds on each GPU, in bytes.
	Memory int64 `json:"nccl_bytes_per_gpu"`
	Rows   []Row `json:"rows"`
}

// Row is one size.
type Row struct {
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
	AlgBW     float64 `json:"algbw_bytes_per_s"`
	BusBW     float64 `json:"busbw_bytes_per_s"`
	Algorithm string  `json:"algorithm"`
	Protocol  string  `json:"protocol"`
	Channels  int     `json:"channels"`
	// Bottleneck is the link that carries most for its capacity, and LimitedBy
	// says whether it ("link"), NCCL's kernels ("kernels") or the latency
	// ("latency") limit the collective when it is alone.
	Bottleneck string `json:"bottleneck"`
	LimitedBy  string `json:"limited_by"`
	// Alone is the seconds without others, where others run beside it.
	Alone *float64 `json:"seconds_alone,omitempty"`
	// Time is Seconds exactly.
	Time sim.Time `json:"-"`
}

// Run times every size.
func (b *Bench) Run(ctx context.Context, sizes []int64) (*Table, error) {
	t := &Table{
		Collective: b.op.String(), Ranks: b.group.Size(), Nodes: b.topology.Nodes(), Memory: b.group.MemoryBytes(b.op),
	}
	for _, bytes := range sizes {
		p := b.group.Call(b.op, bytes)
		if p.Uncontended() > sim.Horizon {
			return nil, b.tooLong(&p)
		}
		row := b.row(&p, p.Uncontended())
		if len(b.others) > 0 {
			alone := row.Seconds
			shared, err := b.contended(ctx, &p)
			if err != nil {
				return nil, err
			}
			row = b.row(&p, shared)
			row.Alone = &alone
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// tooLong says that a plan, alone or beside others, takes too long.
func (b *Bench) tooLong(p *nccl.Call) error {
	l, _ := p.Limit(b.topology)
	return fmt.Errorf(
		"%v of %d bytes over %s takes %w; write a smaller size, or a cluster with a higher %s",
		p.Op, p.Message, l.Name, sim.ErrHorizon, l.Kind.RateKeys())
}

func (b *Bench) row(p *nccl.Call, time sim.Time) Row {
	r := Row{
		Bytes: p.Message, Seconds: time.Seconds(), Time: time,
		Algorithm: p.Algorithm.String(), Protocol: p.Protocol.String(), Channels: p.Channels,
	}
	if time > 0 {
		r.AlgBW = float64(p.Message) / time.Seconds()
		r.BusBW = r.AlgBW * p.BusFactor
	}
	r.Bottleneck, r.LimitedBy = b.limit(p)
	return r
}

// limit says what limits a plan that is alone.
func (b *Bench) limit(p *nccl.Call) (link, by string) {
	l, ok := p.Limit(b.topology)
	if !ok {
		return "", "latency"
	}
	transfer := p.Uncontended() - p.Latency
	switch {
	case transfer < p.Latency:
		by = "latency"
	case p.Cap > 0 && p.Cap < l.Capacity*0.95:
		by = "kernels"
	default:
		by = "link"
	}
	return l.Name, by
}
