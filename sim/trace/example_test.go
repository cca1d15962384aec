package trace_test

import (
	"fmt"
	"os"

	"trainsim/sim"
	"trainsim/sim/trace"
)

func ExampleWriteChrome() {
	var r trace.Recording
	lane := r.AddLane(trace.Lane{Rank: 0, Stage: 0, Stream: trace.Actions})
	r.Add(trace.Span{End: 3 * sim.Millisecond, Lane: lane, Kind: trace.Forward, Name: r.Name("F0")})
	if err := trace.WriteChrome(os.Stdout, &r); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"displayTimeUnit":"ms","traceEvents":[
	// {"ph":"M","name":"process_name","pid":0,"args":{"name":"rank 0 (stage 0)"}},
	// {"ph":"M","name":"process_sort_index","pid":0,"args":{"sort_index":0}},
	// {"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"actions"}},
	// {"ph":"M","name":"thread_sort_index","pid":0,"tid":0,"args":{"sort_index":0}},
	// {"ph":"X","pid":0,"tid":0,"ts":0.000000,"dur":3000.000000,"name":"F0","cat":"forward","args":{"microbatch":0,"chunk":0}}
	// ]}
}
