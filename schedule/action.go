package schedule

import "strconv"

// Op is the kind of computation that an Action performs.
type Op uint8

// The operations. BackwardInput and BackwardWeight are the two halves of a
// split backward pass, Backward is both of them fused into one kernel sequence.
const (
	Forward        Op = iota // F: forward pass of one chunk
	BackwardInput            // I: gradient with respect to the chunk's input
	BackwardWeight           // W: gradient with respect to the chunk's weights
	Backward                 // B: I and W fused; the input gradient leaves at its end
)

const opTokens = "FIWB"

// String returns the one-letter token of the operation: F, I, W or B.
func (o Op) String() string {
	if int(o) < len(opTokens) {
		return opTokens[o : o+1]
	}
	return "Op(" + strconv.Itoa(int(o)) + ")"
}

// releasesInput reports whether the operation sends a gradient upstream.
func (o Op) releasesInput() bool { return o == BackwardInput || o == Backward }

// releasesWeight reports whether the operation ends a micro-batch's life on a
// chunk: after it nothing of the chunk's activations is needed any more.
func (o Op) releasesWeight() bool { return o == BackwardWeight || o == Backward }

// Action is one entry of a rank's list: an operation on one model chunk for
// one micro-batch. It takes 8 bytes, as a Program holds millions.
type Action struct {
	Op         Op
	Pair       bool  // this action and the next in the list run as one overlapped pair (F&B)
	Chunk      int16 // chunk on this rank, 0..v-1; with Bidirectional the direction
	Microbatch int32 // 0-based; with Bidirectional counted separately for each direction
}

// At returns the operation's action for a micro-batch on a chunk, in no pair.
func (o Op) At(microbatch, chunk int) Action {
	return Action{Op: o, Chunk: int16(chunk), Microbatch: int32(microbatch)}
}

// appendToken appends the action's token; the chunk is left out when a rank
// holds only one.
func (a Action) appendToken(b []byte, chunks int) []byte {
	return a.appendNumbers(append(b, a.Op.String()...), chunks)
}

// appendNumbers appends micro-batch and chunk.
func (a Action) appendNumbers(b []byte, chunks int) []byte {
	b = strconv.AppendInt(b, int64(a.Microbatch), 10)
	if chunks > 1 {
		b = append(b, '.')
		b = strconv.AppendInt(b, int64(a.Chunk), 10)
	}
	return b
}

// Tokens returns rank's list as tokens: "F3" with one chunk a rank, "F3.1"
// with more, and "F4.1+B0.0" for an overlapped pair, which is one token.
func (p *Program) Tokens(rank int) []string {
	list := p.Lists[rank]
	out := make([]string, 0, len(list))
	var b []byte
	for i, a := range list {
		b = a.appendToken(b, p.Chunks)
		if a.Pair && i+1 < len(list) {
			b = append(b, '+')
			continue
		}
		out = append(out, string(b))
		b = b[:0]
	}
	return out
}
