package schedule

import (
	"bufio"
	"io"
)

// WriteCSV writes the program in the notation of torch.distributed.pipelining,
// one row a rank, computation only: "3F0" is the forward of global stage 3 for
// micro-batch 0, "(0F7;7B3)OVERLAP_F_B" an overlapped pair. With Bidirectional
// the micro-batches of the second direction follow those of the first: with 8
// in all, 4 to 7 run upwards.
func (p *Program) WriteCSV(w io.Writer) error {
	lists := make([][]Step, len(p.Lists))
	for rank, list := range p.Lists {
		lists[rank] = make([]Step, len(list))
		for i, a := range list {
			lists[rank][i].Action = a
		}
	}
	return p.writeSteps(w, lists)
}

// WriteCommCSV writes the program as WriteCSV does, with the sends and receives
// of torch ("3RECV_F0", "3SEND_B0").
func (p *Program) WriteCommCSV(w io.Writer) error {
	lists, err := p.lower()
	if err != nil {
		return err
	}
	return p.writeSteps(w, lists)
}

func (p *Program) writeSteps(w io.Writer, lists [][]Step) error {
	out := bufio.NewWriter(w)
	var row []byte
	for rank, list := range lists {
		row = row[:0]
		for i, s := range list {
			first := s.Kind == Compute && s.Action.Pair
			second := i > 0 && list[i-1].Kind == Compute && list[i-1].Action.Pair
			switch {
			case second:
				row = append(row, ';')
			case i > 0:
				row = append(row, ',')
			}
			if first {
				row = append(row, '(')
			}
			row = append(row, p.stepToken(rank, s)...)
			if second {
				row = append(row, ")OVERLAP_F_B"...)
			}
		}
		row = append(row, '\n')
		if _, err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

// fileMicrobatch numbers micro-batches over both directions.
func (p *Program) fileMicrobatch(a Action) int {
	return int(a.Microbatch) + p.Pipe(int(a.Chunk))*p.PipeMicrobatches()
}
