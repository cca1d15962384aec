package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"trainsim/interconnect"
	"trainsim/interconnect/bench"
	"trainsim/interconnect/nccl"
	"trainsim/plots/chart"
	"trainsim/scenarios"
	"trainsim/sim"
)

// collectiveCommand is `trainsim collective` with its flags.
type collectiveCommand struct {
	*app
	cluster, topology, gpu string
	ranks, nodes           int
	nicBandwidth           string
	sizes                  string
	with                   []string
	nccl                   nccl.Settings
	plot                   string
}

// newCollectiveCommand is `trainsim collective`.
func newCollectiveCommand(a *app) *cobra.Command {
	c := &collectiveCommand{app: a}
	cmd := &cobra.Command{
		Use:   "collective OP",
		Short: "Time a collective over a range of sizes, as nccl-tests does",
		Long: `collective prints the table that nccl-tests prints: what an all-reduce,
all-gather, reduce-scatter, broadcast, reduce, all-to-all or send-recv takes on a
cluster, with the algorithm and protocol that NCCL chooses and the link that
limits it. Sizes are those of the full vector.

With --with, others run at the same time, again and again until the one that is
timed ends, and share its links: OP:SIZE on the same ranks, or OP:SIZE@0-3,8 on
others.`,
		Example: `  trainsim collective all-reduce --cluster dgx-h100
  trainsim collective all-gather --cluster dgx-a100 --ranks 32 --sizes 1M..1G --plot busbw.png
  trainsim collective all-reduce --topology topo.txt --gpu h100-nvl-94gb --algo Hierarchical
  trainsim collective send-recv --cluster dgx-h100 --ranks 16 --with all-reduce:1G`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeOps,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	c.register(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (c *collectiveCommand) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.cluster, "cluster", "", "run on the cluster preset `NAME` (trainsim list clusters)")
	f.StringVar(&c.topology, "topology", "", "run on the node that `FILE`, the output of nvidia-smi topo -m, "+
		"describes")
	f.StringVar(&c.gpu, "gpu", "", "the GPU preset `NAME` of --topology's node")
	f.IntVar(&c.ranks, "ranks", 0, "`N` GPUs take part (default: all of the nodes)")
	f.IntVar(&c.nodes, "nodes", 0, "the cluster has `N` nodes (default: as many as the ranks need)")
	f.StringVar(&c.nicBandwidth, "nic-bandwidth", "", "each network card has the line rate `RATE` in one direction, "+
		"such as 400Gb/s (default: the cluster preset's)")
	f.StringVar(&c.sizes, "sizes", "1K..1G", "`SIZES`: a range in powers of two (1K..1G) or of a factor (1K..1G*8), "+
		"or a list (64K,1M)")
	f.StringArrayVar(&c.with, "with", nil, "`OP:SIZE[@RANKS]` that runs at the same time; may be given again")
	f.StringSliceVar(&c.nccl.Algo, "algo", nil, "allow only these `ALGORITHMS` (Ring, Tree, NVLS, NVLSTree, PAT, or "+
		"Hierarchical)")
	f.StringSliceVar(&c.nccl.Proto, "proto", nil, "allow only these `PROTOCOLS` (LL, LL128, Simple)")
	f.IntVar(&c.nccl.MinChannels, "min-nchannels", 0, "NCCL_MIN_NCHANNELS")
	f.IntVar(&c.nccl.MaxChannels, "max-nchannels", 0, "NCCL_MAX_NCHANNELS")
	f.StringVar(&c.nccl.P2PLevel, "p2p-level", "", "NCCL_P2P_LEVEL: LOC, NVL, PIX, PXB, PHB or SYS")
	f.BoolVar(&c.nccl.P2PDisable, "p2p-disable", false, "NCCL_P2P_DISABLE: GPUs of a node copy through host memory")
	f.StringVar(&c.nccl.Model, "model", "", "nccl, or ideal for rings at the links' own latency and bandwidth")
	f.StringVar(&c.plot, "plot", "", "draw bus bandwidth over size to `FILE` (.png, .svg or .pdf)")
	for _, name := range []string{"cluster", "gpu"} {
		_ = cmd.RegisterFlagCompletionFunc(name, completeEntries(name+"s"))
	}
}

func (c *collectiveCommand) run(ctx context.Context, name string) error {
	var op nccl.Op
	if err := op.UnmarshalText([]byte(name)); err != nil {
		return usagef("%w", err)
	}
	sizes, err := bench.ParseSizes(c.sizes)
	if err != nil {
		return usagef("--sizes %s: %w", c.sizes, err)
	}
	if err := checkFigure(c.plot); err != nil {
		return err
	}
	b, cluster, err := c.bench(op)
	if err != nil {
		return err
	}
	table, err := b.Run(ctx, sizes)
	if err != nil {
		return err
	}
	table.Cluster, table.With = cluster, c.with
	if c.json {
		err = c.writeJSON(table)
	} else {
		err = c.printTable(table)
	}
	if err != nil || c.plot == "" {
		return err
	}
	return c.draw(table)
}

// checkFigure refuses a --plot that cannot be written before anything runs.
func checkFigure(path string) error {
	if path == "" {
		return nil
	}
	if slices.Contains(chart.Formats, strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")) {
		return nil
	}
	return usagef("--plot %s: write a name that ends in .%s", path, strings.Join(chart.Formats, ", ."))
}

// bench builds the cluster that the flags describe, with its name, and the ranks
// that run an operation on it.
func (c *collectiveCommand) bench(op nccl.Op) (b *bench.Bench, cluster string, err error) {
	cfg, name, err := c.config()
	if err != nil {
		return nil, "", err
	}
	perNode := cfg.GPUsPerNode
	if cfg.Topology != nil {
		perNode = cfg.Topology.GPUs()
	}
	if c.ranks < 0 || c.nodes < 0 {
		return nil, "", usagef("--ranks and --nodes are numbers from 1")
	}
	if cfg.Nodes = c.nodes; cfg.Nodes == 0 {
		cfg.Nodes = max(1, (c.ranks+perNode-1)/max(perNode, 1))
	}
	if err := c.network(cfg); err != nil {
		return nil, "", err
	}
	top, err := interconnect.Build(*cfg)
	if err != nil {
		return nil, "", badInput(err)
	}
	ranks := c.ranks
	if ranks == 0 {
		ranks = top.Devices()
	}
	if ranks > top.Devices() {
		return nil, "", usagef("--ranks %d: the %d nodes have %d GPUs; raise --nodes", ranks, cfg.Nodes, top.Devices())
	}
	if b, err = bench.New(top, c.nccl, op, ranks); err != nil {
		return nil, "", usagef("%w", err)
	}
	for _, text := range c.with {
		if err := b.Beside(text); err != nil {
			return nil, "", usagef("--with %s: %w", text, err)
		}
	}
	return b, name, nil
}

// network puts the cards' rate into a cluster, and asks for what several nodes
// of a topology lack.
func (c *collectiveCommand) network(cfg *interconnect.Config) error {
	if c.nicBandwidth != "" {
		rate, err := sim.ParseBandwidth(c.nicBandwidth)
		if err != nil {
			return usagef("--nic-bandwidth: %w", err)
		}
		if rate <= 0 {
			return usagef("--nic-bandwidth %s: write a card's line rate above 0, such as 400Gb/s", c.nicBandwidth)
		}
		cfg.NICBandwidth = rate
	}
	switch {
	case cfg.Topology == nil || cfg.Nodes < 2:
		return nil
	case cfg.Topology.NICs() == 0:
		return usagef(
			"--topology %s: shows no network cards, which %d nodes need; take one that does, or --nodes 1 and at "+
				"most %d ranks", c.topology, cfg.Nodes, cfg.Topology.GPUs())
	case cfg.NICBandwidth == 0:
		return usagef(
			"--nic-bandwidth: %d nodes need it, and the topology does not tell; write a card's line rate such as "+
				"400Gb/s", cfg.Nodes)
	}
	return nil
}

// config returns the cluster's configuration: a preset's, or a node like the
// table's.
func (c *collectiveCommand) config() (*interconnect.Config, string, error) {
	switch {
	case (c.cluster == "") == (c.topology == ""):
		return nil, "", usagef("write either --cluster NAME or --topology FILE")
	case c.cluster != "" && c.gpu != "":
		return nil, "", usagef("--gpu belongs to --topology; a cluster has its own")
	case c.cluster != "":
		cfg, _, err := scenarios.LoadCluster(c.cluster)
		if err != nil {
			return nil, "", badInput(err)
		}
		return cfg, c.cluster, nil
	}
	m, err := c.readTopo(c.topology)
	if err != nil {
		return nil, "", err
	}
	cfg := &interconnect.Config{Topology: m}
	if c.gpu != "" {
		device, err := scenarios.LoadGPU(c.gpu)
		if err != nil {
			return nil, "", badInput(err)
		}
		scenarios.SetGPU(cfg, device)
	}
	return cfg, c.topology, nil
}

// completeOps completes the names of the collectives.
func completeOps(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, op := range nccl.Ops() {
		names = append(names, op.String())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeEntries completes the names of the built-in files of a kind.
func completeEntries(kind string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		entries, _ := listEntries(kind)
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.Name
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
