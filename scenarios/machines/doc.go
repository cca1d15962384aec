// Package machines finds devices, clusters and models by what people call them,
// in tables of measurements and elsewhere, and makes machines of their words.
//
// Files in reading order: words.go, made.go and stated.go are about what is said of
// links, cards and the network; clusters.go, models.go and gpus.go find presets.
package machines
