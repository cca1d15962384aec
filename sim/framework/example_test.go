package framework_test

import (
	"fmt"

	"trainsim/sim/framework"
	"trainsim/sim/gpu/generation"
)

// A condition holds where all that it names does; without a date nothing holds
// that asks for one.
func ExampleWhen_Holds() {
	yes := true
	when := framework.When{FP8: &yes, Since: "2024-06"}
	hopper := framework.Facts{Generation: generation.Of(90), Date: "2025-01"}
	fmt.Println(when.Holds(hopper))
	hopper.Date = ""
	fmt.Println(when.Holds(hopper))
	fmt.Println(when.Holds(framework.Facts{Generation: generation.Of(80), Date: "2025-01"}))
	// Output:
	// true
	// false
	// false
}
