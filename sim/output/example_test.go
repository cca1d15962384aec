package output_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"trainsim/sim/output"
)

// A file is written whole or not at all: a failure leaves what was there.
func ExampleWriteFile() {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "plan.csv")
	write := func(text string, failure error) error {
		return output.WriteFile(path, func(w io.Writer) error {
			io.WriteString(w, text)
			return failure
		})
	}
	fmt.Println(write("tp,pp\n", nil))
	fmt.Println(write("half a li", errors.New("out of paper")) != nil)
	text, err := os.ReadFile(path)
	fmt.Printf("%q %v\n", text, err)
	// Output:
	// <nil>
	// true
	// "tp,pp\n" <nil>
}
