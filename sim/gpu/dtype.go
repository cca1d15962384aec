package gpu

import "fmt"

var dtypeNames = [...]string{FP32: "fp32", TF32: "tf32", FP16: "fp16", BF16: "bf16", FP8: "fp8"}

// String returns the format's name, as in "bf16".
func (d Dtype) String() string { return nameOf(dtypeNames[:], int(d)) }

// UnmarshalText reads a format's name.
func (d *Dtype) UnmarshalText(text []byte) error {
	i, err := indexOf(dtypeNames[:], string(text), "number format")
	*d = Dtype(i)
	return err
}

var layoutNames = [...]string{TN: "TN", NN: "NN", NT: "NT"}

// String returns the layout's name, as in "TN".
func (l Layout) String() string { return nameOf(layoutNames[:], int(l)) }

// UnmarshalText reads a layout's name.
func (l *Layout) UnmarshalText(text []byte) error {
	i, err := indexOf(layoutNames[:], string(text), "layout")
	*l = Layout(i)
	return err
}

var kindNames = [...]string{GEMM: "gemm", Attention: "attention", Memory: "memory"}

// String returns the kind's name.
func (k Kind) String() string { return nameOf(kindNames[:], int(k)) }

var classNames = [NumClasses]string{
	Elementwise: "elementwise", Norm: "norm", Softmax: "softmax", CrossEntropy: "cross_entropy",
	Embedding: "embedding", Copy: "copy", Optimizer: "optimizer", Reduction: "reduction",
	Permute: "permute",
}

// String returns the class's name, which is also its key in a preset.
func (c Class) String() string { return nameOf(classNames[:], int(c)) }

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%d", i)
}

func indexOf(names []string, text, what string) (int, error) {
	for i, n := range names {
		if n == text {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is not a %s; write one of %q", text, what, names)
}
