package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"trainsim/interconnect"
	"trainsim/sim"
)

// neighbour is a collective that runs beside the one that is timed.
type neighbour struct {
	text string
	plan interconnect.Plan
}

// neighbours reads --with.
func (c *collectiveCommand) neighbours(m *collectiveMachine) ([]neighbour, error) {
	var out []neighbour
	for _, text := range c.with {
		n, err := c.neighbour(m, text)
		if err != nil {
			return nil, usagef("--with %s: %w", text, err)
		}
		out = append(out, n)
	}
	return out, nil
}

func (c *collectiveCommand) neighbour(m *collectiveMachine, text string) (neighbour, error) {
	job, ranks, elsewhere := strings.Cut(text, "@")
	name, size, ok := strings.Cut(job, ":")
	if !ok {
		return neighbour{}, errors.New("write OP:SIZE or OP:SIZE@RANKS, as in all-gather:1G@0-7")
	}
	var op interconnect.Op
	if err := op.UnmarshalText([]byte(name)); err != nil {
		return neighbour{}, err
	}
	bytes, err := parseSize(size)
	if err != nil {
		return neighbour{}, err
	}
	group := m.group
	if elsewhere {
		devices, err := parseRanks(ranks)
		if err != nil {
			return neighbour{}, err
		}
		if group, err = m.topology.CommunicatorFor(op, devices, c.nccl); err != nil {
			return neighbour{}, err
		}
	}
	return neighbour{text: text, plan: group.Plan(op, bytes)}, nil
}

// table times every size.
func (c *collectiveCommand) table(ctx context.Context, m *collectiveMachine, op interconnect.Op, sizes []int64) (*collectiveTable, error) {
	t := &collectiveTable{
		Collective: op.String(), Cluster: m.name, Ranks: m.group.Size(), Nodes: m.topology.Nodes(),
		Memory: m.group.MemoryBytes(op), With: c.with,
	}
	for _, bytes := range sizes {
		p := m.group.Plan(op, bytes)
		time := p.Uncontended(m.topology)
		row := newCollectiveRow(m.topology, &p, time)
		if len(m.others) > 0 {
			alone := time.Seconds()
			shared, err := m.contended(ctx, &p)
			if err != nil {
				return nil, err
			}
			row = newCollectiveRow(m.topology, &p, shared)
			row.Alone = &alone
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func newCollectiveRow(top *interconnect.Topology, p *interconnect.Plan, time sim.Time) collectiveRow {
	r := collectiveRow{
		Bytes: p.Message, Seconds: time.Seconds(), time: time,
		Algorithm: p.Algorithm.String(), Protocol: p.Protocol.String(), Channels: p.Channels,
	}
	if time > 0 {
		r.AlgBW = float64(p.Message) / time.Seconds()
		r.BusBW = r.AlgBW * p.BusFactor
	}
	r.Bottleneck, r.LimitedBy = limit(top, p)
	return r
}

// limit names the link that carries most for its capacity, and says whether it,
// NCCL's kernels or the latency limit a plan that is alone.
func limit(top *interconnect.Topology, p *interconnect.Plan) (link, by string) {
	if p.Bottleneck < 0 {
		return "", "latency"
	}
	l := top.Links()[p.Bottleneck]
	transfer := p.Uncontended(top) - p.Latency
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

// contended times a plan while the others run again and again beside it; it
// starts when their first bytes are on the links.
func (m *collectiveMachine) contended(ctx context.Context, p *interconnect.Plan) (sim.Time, error) {
	r := &rounds{}
	r.net = interconnect.NewNetwork(&r.engine, m.topology)
	r.id = r.engine.Register(r)
	r.plans = append(r.plans, p)
	for i := range m.others {
		r.plans = append(r.plans, &m.others[i].plan)
	}
	var warm sim.Time
	for i := 1; i < len(r.plans); i++ {
		r.engine.At(0, r.id, 0, uint32(i))
		warm = max(warm, r.plans[i].Latency)
	}
	r.engine.At(warm, r.id, 0, 0)
	if err := r.engine.Run(ctx); err != nil {
		return 0, err
	}
	return r.end - warm, nil
}

// rounds restarts every plan but the first until the first has ended.
type rounds struct {
	engine sim.Engine
	net    *interconnect.Network
	id     sim.HandlerID
	plans  []*interconnect.Plan
	end    sim.Time
}

// Handle starts plan arg (kind 0) or receives its end (kind 1).
func (r *rounds) Handle(k *sim.Engine, kind uint16, arg uint32) error {
	switch {
	case kind == 0:
		r.net.Start(r.plans[arg], r.id, 1, arg)
	case arg == 0:
		r.end = k.Now()
	case r.end == 0 && r.plans[arg].Bytes > 0:
		r.net.Start(r.plans[arg], r.id, 1, arg)
	}
	return nil
}

// parseSizes reads 1K..1G (powers of two between, both ends included) or a
// list.
func parseSizes(text string) ([]int64, error) {
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		var sizes []int64
		for _, part := range strings.Split(text, ",") {
			size, err := parseSize(part)
			if err != nil {
				return nil, err
			}
			sizes = append(sizes, size)
		}
		return sizes, nil
	}
	low, err := parseSize(from)
	if err != nil {
		return nil, err
	}
	to, by, scaled := strings.Cut(to, "*")
	factor := int64(2)
	if scaled {
		if factor, err = strconv.ParseInt(by, 10, 64); err != nil || factor < 2 || factor > maxCollective {
			return nil, fmt.Errorf("*%s is no factor; write one from 2 on, as in 1K..1G*4", by)
		}
	}
	high, err := parseSize(to)
	if err != nil {
		return nil, err
	}
	if low > high {
		return nil, fmt.Errorf("%s is above %s; write the smaller first", from, to)
	}
	var sizes []int64
	for s := low; s <= high; s *= factor {
		sizes = append(sizes, s)
		if s > high/factor {
			break // what follows is above, or above what an int64 holds
		}
	}
	return sizes, nil
}

// maxCollective is the largest size of a collective: 1 PiB.
const maxCollective = 1 << 50

// parseSize reads a size as nccl-tests does: 64K, 1M, 2G, powers of 1024.
func parseSize(text string) (int64, error) {
	s := strings.TrimSpace(text)
	upper := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	shift := 0
	if n := len(upper); n > 0 {
		if i := strings.IndexByte("KMGT", upper[n-1]); i >= 0 {
			shift, upper = 10*(i+1), upper[:n-1]
		}
	}
	x, err := strconv.ParseInt(strings.TrimSpace(upper), 10, 64)
	if err != nil || x < 1 || bits.Len64(uint64(x))+shift > 51 || x<<shift > maxCollective {
		return 0, fmt.Errorf("%q is no size; write something like 64K, 16M or 1G", s)
	}
	return x << shift, nil
}

// parseRanks reads a list of ranks and ranges of them, as in 0-3,8.
func parseRanks(text string) ([]int, error) {
	var out []int
	for _, part := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(low)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(high)
		}
		if err != nil || a < 0 || b < a || b-a > 1<<20 {
			return nil, fmt.Errorf("%q are no ranks; write something like 0-3,8", text)
		}
		for r := a; r <= b; r++ {
			out = append(out, r)
		}
	}
	return out, nil
}
