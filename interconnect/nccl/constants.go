package nccl

import "trainsim/sim/gpu/generation"

// The constants of NCCL 2.30.7's tuning model (graph/tuning.cc) that hold for all
// GPUs; those of a generation are in package generation. Latencies are in
// microseconds, bandwidths in GB/s; rows are algorithms, columns protocols (LL,
// LL128, Simple).

// protocolTimes holds one value for each protocol.
type protocolTimes [numProtocols]float64

// baseLatency is added once a call.
var baseLatency = map[Algorithm]protocolTimes{
	Tree: {6.8, 14.0, 8.4},
	Ring: {6.6, 14.0, 8.4},
	PAT:  {8.0, 8.0, 8.0},
}

// Hardware over which a step goes.
const (
	hwNVLink = iota
	hwPCI    // everything inside a node that is not purely NVLink
	hwNet
)

// stepLatency is the latency of one step over each kind of hardware.
var stepLatency = map[Algorithm][3]protocolTimes{
	Tree:     {{0.6, 1.25, 4.0}, {1.0, 1.9, 4.0}, {5.0, 8.5, 14}},
	Ring:     {{0.6, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 14.0}},
	NVLS:     {{0, 0, 25}, {0, 0, 0}, {0, 0, 18}},
	NVLSTree: {{0, 0, 25}, {0, 0, 0}, {0, 0, 20.9}},
	PAT:      {{0, 0, 4.0}, {0, 0, 4.0}, {0, 0, 14}},
}

// llNodes limits the bus bandwidth of LL over several nodes, where the processor
// and not the GPU decides it.
var (
	llNodes    = generation.ByNodes{39.0, 39.0, 20.4}
	llNodesAMD = generation.ByNodes{87.7, 22.5, 19.0}
)

// treeCorrection multiplies the bandwidth of a tree all-reduce, by protocol and
// by the power of two of the size over 64 bytes.
var treeCorrection = [numProtocols][24]float64{
	LL:     {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
	LL128:  {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
	Simple: {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}
