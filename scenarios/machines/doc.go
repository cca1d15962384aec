// Package machines finds devices, clusters and models by what people call them,
// in tables of measurements and elsewhere, and makes machines of their words.
//
// Files in reading order: words.go and made.go are what is said of links, cards
// and the network; clusters.go, gpus.go and models.go find presets.
package machines
