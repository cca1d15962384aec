// Package calibrate fits presets to tables of measurements: a device to kernels,
// the links of a cluster to collectives.
//
// A fit minimises the mean loss of the logarithms of predicted over measured, in
// which outliers count by their size only; parameters that the measurements do not
// decide keep their values. The same tables give the same preset.
//
// Files in reading order: device.go, groups.go, knobs.go and residuals.go fit
// devices; cluster.go and links.go clusters; fit.go is what comes out, and
// minimise.go how.
package calibrate
