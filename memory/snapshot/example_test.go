package snapshot_test

import (
	"context"
	"fmt"
	"strings"

	"trainsim/memory"
	"trainsim/memory/snapshot"
)

// The same operations under other settings.
func ExampleRecording_Replay() {
	file := strings.NewReader(`{"name": "holes", "total": 67108864, "ops": [
		["a", 0, 9437184, 0], ["a", 1, 9437184, 0], ["a", 2, 9437184, 0], ["a", 3, 9437184, 0],
		["a", 4, 9437184, 0], ["f", 0], ["f", 2], ["a", 5, 12582912, 0]]}`)
	recordings, err := snapshot.ReadRecordings(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"", "expandable_segments:True"} {
		conf, _ := memory.ParseConf(text)
		out, _ := recordings[0].Replay(context.Background(), snapshot.Options{Conf: &conf})
		fmt.Printf("%q: reserved %s, failures %d\n", text, memory.FormatSize(out.Stats.ReservedBytes.All.Peak), out.OOMCount)
	}
	// Output:
	// "": reserved 60.00 MiB, failures 1
	// "expandable_segments:True": reserved 60.00 MiB, failures 0
}
