// Package framework is the software that trains a model, as data: whose layers
// it runs, what it leaves to kernels of their own, how it lays out training
// state, how it exchanges gradients and parameters, and what launching costs its
// CPU. Nothing here computes; packages job, code and account ask a Framework for
// a property and never for its name.
//
// The values stand in scenarios/frameworks, one file for each framework, with
// their sources. To add one, write a file there: it may stand on another and say
// what differs, by GPU, by kind of model and by date: [[variant]] tables
// whose when has fp8_gpu, fused_cross_entropy, unfused_attention, rms_norm, since or
// until (excluded).
//
// Reading order: framework.go, host.go, words.go, facts.go.
package framework
