package memory

// Kind says what a block of memory is for. The kinds are the keys under which
// a report splits the peak.
type Kind uint8

// The kinds of memory, in the order in which reports list them.
const (
	Weights      Kind = iota // parameters
	Gradients                // gradients, including gradient buffers
	Optimizer                // optimizer states and fp32 masters
	Activations              // saved for the backward pass
	Temporaries              // workspaces and transients
	CommBuffers              // collective and pipeline buffers
	Context                  // CUDA context, kernels and library handles
	numKindsByte             // count

	Unknown Kind = 255 // of blocks that were read from a file
)

// NumKinds is how many kinds there are.
const NumKinds = int(numKindsByte)

var kindNames = [NumKinds]string{
	"weights", "gradients", "optimizer", "activations", "temporaries", "comm_buffers", "context",
}

// String returns the kind's key in a report, as in "comm_buffers".
func (k Kind) String() string {
	if int(k) < NumKinds {
		return kindNames[k]
	}
	return "unknown"
}
