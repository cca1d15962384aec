// Package interconnect models how GPUs reach each other: directed links with a
// capacity and a latency, routes over them, and how everything that is on the
// links at the same time shares them. What NCCL sends over them is package
// interconnect/nccl's; package interconnect/topo reads `nvidia-smi topo -m`.
//
// # Transfers
//
// A collective advances at one rate on all edges of its rings, so one transfer
// is one fluid variable x that crosses many directed links. The weight w of a
// link is how many bytes that link carries while x grows by one byte. A
// Transfer is scaled so that its bottleneck link has the weight 1.
//
// # Sharing
//
// Rates are max-min fair. For every link l, the sum over transfers of w[l]*x
// stays at or below the capacity C[l]; every x stays at or below its own limit
// (a protocol's or a channel's). A transfer is measured by its bytes on the
// shared link that it loads most for that link's capacity, y = w*x there; every
// transfer is either at its own limit or crosses a saturated link on which no
// other has a higher y. Two transfers that meet on one link thus get equal parts
// of it, as two flows on a wire do, whatever else each of them crosses. Rates
// are found by progressive filling. A start, a finish or a change of capacity
// touches only the transfers that are connected to it through shared links, and
// all changes of one instant are solved once, at the instant's end.
//
// # Time
//
// A transfer pays its latency first, then its bytes. Alone on its links it
// takes Latency + ceil(Bytes*1e12/rate) picoseconds, rounded once.
//
// # Files
//
// In reading order: config.go, kinds.go, matrix.go, defaults.go and validate.go
// (what a cluster is described by); topology.go, domain.go, shape.go, nvlink.go,
// sites.go, matrixsites.go and fabric.go (its links); path.go, route.go,
// cards.go and islands.go (the ways over them); traffic.go and transfer.go (what
// goes over them); network.go, solver.go and utilisation.go (a run).
package interconnect
