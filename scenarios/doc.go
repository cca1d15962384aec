// Package scenarios reads training jobs from TOML files: strictly, with the
// position of everything that is wrong, and with every preset and default
// resolved.
//
// [Load] takes the path of a scenario or the name of a built-in one and returns
// a [job.Config]. A file goes through four stations: it is parsed into a tree
// that knows where each key stands (parse.go), presets and defaults are laid
// under it (resolve.go), the tree is decoded into the Config (decode.go), and the
// whole is checked for what cannot be (validate.go). All problems of one file are
// reported together, as an [*input.Errors], sorted by position.
//
// Files in reading order, callers before what they call: load.go is one load;
// set.go lays --set over the text; resolve.go, inherit.go, import.go, slots.go,
// framework.go, lengths.go, topology.go and named.go read what the text names; complete.go and
// batch.go fill in what follows; validate.go, layout.go, size.go and problems.go
// check the whole; decode.go fills the Config. writepreset.go, machine.go, list.go
// and presettext.go are about presets alone. files.go, encode.go, parse.go and
// tree.go are below all of them.
//
// # To add something
//
// A GPU, a machine, a model or a framework is a file in gpus, clusters, models or
// frameworks, with the source of each figure in a comment; a scenario is a file
// here. A key is a field of a job's Config and its entry in package keys.
//
// # Layers
//
// A value comes from the first of these that has it: --set, the scenario file,
// the preset that the table names, the default of its [keys.Key]. Presets are found
// beside the scenario (NAME.toml, or models/NAME.toml, gpus/NAME.toml,
// clusters/NAME.toml, frameworks/NAME.toml there) and then among the built-in ones. A preset file may
// itself name a preset to start from, which is looked for beside that file first;
// tables are laid over each other key by key, arrays whole. A machine that
// published runs alone need says so by published_runs, the name of the publication.
//
// # Units
//
// A quantity with a unit is a string with that unit: "450GB/s", "400Gb/s",
// "80GiB", "1.5us". A bare number where a unit belongs is an error, as is a
// negative number, NaN or an infinity anywhere.
package scenarios
