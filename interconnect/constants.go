package interconnect

// The constants of NCCL 2.30.7's tuning model (graph/tuning.cc). Latencies are
// in microseconds, bandwidths in GB/s; rows are algorithms, columns protocols
// (LL, LL128, Simple).

// generation is a column of NCCL's bandwidth tables.
type generation int

const (
	volta generation = iota
	ampere
	hopper
	blackwell
)

// generationOf returns the column of a compute capability: Ada counts as
// Ampere, everything before Ampere as Volta.
func generationOf(cc int) generation {
	switch {
	case cc >= 100:
		return blackwell
	case cc >= 90:
		return hopper
	case cc >= 80:
		return ampere
	}
	return volta
}

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
	Tree:          {{0.6, 1.25, 4.0}, {1.0, 1.9, 4.0}, {5.0, 8.5, 14}},
	Ring:          {{0.6, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 14.0}},
	CollNetDirect: {{0, 0, 3.7}, {0, 0, 3.7}, {0, 0, 31}},
	CollNetChain:  {{0, 0, 2.8}, {0, 0, 2.8}, {0, 0, 30}},
	NVLS:          {{0, 0, 25}, {0, 0, 0}, {0, 0, 18}},
	NVLSTree:      {{0, 0, 25}, {0, 0, 0}, {0, 0, 20.9}},
	PAT:           {{0, 0, 4.0}, {0, 0, 4.0}, {0, 0, 14}},
}

// byNodes holds one value for one node, for two, and for more.
type byNodes [3]float64

func (b byNodes) at(nodes int) float64 { return b[min(nodes, 3)-1] }

// Bandwidth limits by generation: of the whole bus for LL, of a channel for the
// others.
var (
	llBus        = [...]byNodes{{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141, 45, 35}, {282, 90, 70}}
	ringLL128    = [...]byNodes{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}
	treeLL128    = [...]byNodes{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}
	treeChannel  = [...]byNodes{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}
	nvlsTree     = [...]byNodes{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}}
	nvlsFraction = [...]float64{0, 0, 0.85, 0.74}
)

// treeCorrection multiplies the bandwidth of a tree all-reduce, by protocol and
// by the power of two of the size over 64 bytes.
var treeCorrection = [numProtocols][24]float64{
	LL:     {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
	LL128:  {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
	Simple: {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}

// Speeds of a channel that NCCL's graph search tries, in GB/s (graph/search.cc),
// by generation (before Hopper alike) on one node and on several.
var (
	speedsOneNode = [...][]float64{
		{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
		{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
		{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
		{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18},
	}
	speedsNodes = [...][]float64{
		{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12},
		{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12},
		{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12},
		{96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12},
	}
)

// linkSpeed is what NCCL counts for one NVLink of a compute capability.
func linkSpeed(cc int) float64 {
	switch {
	case cc >= 100:
		return 40.1
	case cc >= 90:
		return 20.6
	case cc == 86:
		return 12
	case cc >= 60 && cc < 70:
		return 18
	}
	return 20
}
