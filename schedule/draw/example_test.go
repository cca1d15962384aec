package draw_test

import (
	"context"
	"fmt"
	"os"

	"trainsim/schedule"
	"trainsim/schedule/draw"
	"trainsim/schedule/kinds"
)

func ExampleGantt() {
	p, err := kinds.Build(context.Background(), "zb-h1", schedule.Options{Ranks: 2, Microbatches: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := p.Execute(context.Background(), schedule.UnitCosts())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := draw.Gantt(os.Stdout, p, r, 40, false); err != nil {
		fmt.Println(err)
	}
	// Output:
	// rank 0 F0==F1==....I0--W0~~F2==I1--W1~~I2--W2~~
	// rank 1 ....F0==I0--F1==I1--W0~~F2==I2--W1~~W2~~
	//        |0                  |5                  |10
}
