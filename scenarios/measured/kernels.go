package measured

import (
	"bytes"
	"path/filepath"

	"trainsim/scenarios"
	"trainsim/sim/gpu"
)

// kernelRows reads a table of measured kernels.
func kernelRows(text []byte, name string, o Options) ([]Row, error) {
	rows, err := gpu.ReadMeasurements(bytes.NewReader(text), filepath.Base(name))
	if err != nil {
		return nil, err
	}
	find := scenarios.FindGPU
	if o.GPU != "" {
		own, err := scenarios.LoadGPU(o.GPU)
		if err != nil {
			return nil, err
		}
		find = func(string) (*gpu.Device, error) { return own, nil }
	}
	out := make([]Row, len(rows))
	for i := range rows {
		m := &rows[i]
		out[i] = timed(m.ID, m.Device+" "+m.Operation, m.Seconds, m.Skipped, func() (float64, error) {
			d, err := find(m.Device)
			if err != nil {
				return 0, err
			}
			return m.Predict(d).Seconds(), nil
		})
	}
	return out, nil
}
