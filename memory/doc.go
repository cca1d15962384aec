// Package memory accounts for every byte of a GPU the way PyTorch and
// nvidia-smi do: it models PyTorch's CUDA caching allocator.
//
// # The allocator
//
// An [Allocator] serves one device. A request of n bytes is rounded up to a
// multiple of 512 (or to a division of a power of two, see [Conf]) and served
// from one of two pools: small up to 1 MiB, large above. A pool asks the
// driver for segments (2 MiB, 20 MiB, or the request rounded up to 2 MiB) and
// splits them into blocks. A freed block is merged with idle neighbours and
// kept for its pool and stream; the best fit is reused, the lowest address
// among equals. Nothing returns to the driver before the driver refuses:
// then cached segments are released and the request is retried, and only if
// that fails is the result an [OutOfMemory].
//
// With expandable segments every pool and stream owns one virtual range that
// grows and shrinks by whole granules (2 MiB small, 20 MiB large).
//
// The following always holds, and is tested on random traces:
//
//	sum of live block sizes = allocated <= active <= reserved
//	reserved + external <= capacity
//	reserved = sum of segments = live + pending + idle blocks
//
// Allocated counts whole blocks, so the part of a large block that is too
// small to be split off (up to 1 MiB) is in it; requested counts what callers
// asked for.
//
// All operations are deterministic: addresses come from a bump pointer for
// cudaMalloc segments and from fixed windows for expandable ones. Streams are
// compared as integers. Searching takes O(log n) of the idle blocks of the
// pool and stream, and no operation allocates from the Go heap once the
// tables have reached their size.
//
// # Sources and limits
//
// The rules are those of PyTorch 2.10 (c10/cuda/CUDACachingAllocator.cpp and
// c10/core/AllocatorConfig.cpp); where 2.5 to 2.8 differ, the newer one is
// followed: a fraction of 1 removes the limit, max_non_split_rounding_mb is a
// setting, ">" in roundup_power2_divisions begins behind the entry before it.
// Not modelled are free-memory callbacks, memory pools that serve the default
// pool when it is full, frees that wait for the end of a graph's capture, and
// backend:cudaMallocAsync. Numbers in settings must be whole: PyTorch reads
// "128MB" as 128, [ParseConf] refuses it.
//
// # Snapshots
//
// A [Snapshot] is what torch.cuda.memory._snapshot returns. Package
// memory/snapshot reads and writes files of them and replays what they record.
//
// # Reading order
//
//   - allocator.go, privatepool.go: requests and frees
//   - search.go, block.go, rounding.go: which block serves a request
//   - driver.go, expandable.go, driverwork.go: memory from the driver and back
//   - events.go: blocks that wait for other streams
//   - oom.go: what is said when memory runs out
//   - counters.go, stats.go, kind.go: what torch.cuda.memory_stats says
//   - snapshot.go, trace.go, usage.go: segments, blocks and the history
//   - replay.go, restore.go: what the replay of a recording needs
//   - conf.go, confparse.go, confvalues.go: PYTORCH_CUDA_ALLOC_CONF
//
// To add a setting, add its field to [Conf], its reader to confKeys, and its
// rule where it decides; the vectors in testdata hold PyTorch's results.
package memory
