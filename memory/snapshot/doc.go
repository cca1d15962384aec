// Package snapshot reads and writes snapshots of PyTorch's CUDA memory
// (torch.cuda.memory._dump_snapshot), and replays the allocations that they
// record through the model of the caching allocator, under any settings.
//
// [ReadRecordings] takes untrusted files: a pickle is taken apart instruction by
// instruction, whatever could import or call is refused, lengths are never
// believed, and what is kept is bounded. A trace does not name the pool of a
// block, so that blocks of private pools are replayed in the default one, and it
// does not tell everything: see [Recorded] for how closely a replay followed.
//
// # Reading order
//
//   - report.go, text.go: replays side by side, as JSON and as a table
//   - recording.go: what a file holds
//   - replay.go, replaytrace.go: what a replay does and counts
//   - rewind.go, rangemap.go: the state at the beginning of a trace
//   - write.go, picklewrite.go: the pickle that memory_viz reads
//   - json.go, script.go: snapshots as JSON, and operations by name
//   - picklesnapshot.go, pickledecode.go, picklevalue.go, picklememo.go,
//     pickleread.go, pickleop.go: snapshots as pickles
//   - check.go, limits.go: what is refused in either form
//
// To read another form of recording, tell it apart in readFile and turn it into
// a [memory.Snapshot] or a list of operations; check.go then guards it.
package snapshot
