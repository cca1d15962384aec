package schedule

import (
	"fmt"
	"strings"

	"trainsim/sim/input"
)

// System is a training system whose own checks on counts a schedule can be
// held to.
type System uint8

// The systems. AnySystem accepts the counts that at least one of them runs.
const (
	AnySystem System = iota
	Torch            // torch.distributed.pipelining, torchtitan
	Megatron         // Megatron-LM core, NeMo
	DeepSpeed        // DeepSpeed's PipelineModule
	DeepSeek         // DeepSeek's DualPipe
)

var systemNames = [...]string{"any", "torch", "megatron", "deepspeed", "deepseek"}

// String returns the system's name in lower case.
func (s System) String() string {
	if int(s) < len(systemNames) {
		return systemNames[s]
	}
	return fmt.Sprintf("System(%d)", uint8(s))
}

// UnmarshalText reads a system's name; the empty text is AnySystem.
func (s *System) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = AnySystem
		return nil
	}
	for i, name := range systemNames {
		if strings.EqualFold(string(text), name) {
			*s = System(i)
			return nil
		}
	}
	return fmt.Errorf("unknown system %s; write one of %s", input.Quote(string(text)),
		strings.Join(systemNames[:], ", "))
}
