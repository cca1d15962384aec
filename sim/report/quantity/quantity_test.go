package quantity_test

import (
	"fmt"

	"trainsim/sim/report/quantity"
)

func Example() {
	for _, s := range []float64{1.5, 0.0302, 2e-5, 0} {
		fmt.Println(quantity.Seconds(s))
	}
	for _, n := range []int64{512, 3 << 10, 5 << 20, 80 << 30} {
		fmt.Println(quantity.Size(n))
	}
	fmt.Println(quantity.GiB(80 << 30))
	// Output:
	// 1.500 s
	// 30.200 ms
	// 20.000 us
	// 0 s
	// 512 B
	// 3.00 KiB
	// 5.00 MiB
	// 80.00 GiB
	// 80.0 GiB
}
