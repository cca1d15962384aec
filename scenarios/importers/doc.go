// Package importers reads files in which other programs describe training jobs.
//
// Each kind of file has an [Importer] in a file of its own, which registers it: how
// its content is recognised and what it says, as keys of a scenario with values. A
// scenario names such a file by the importer's key; what it says is laid under
// what the scenario says itself.
//
// To add an importer, write a file with its [Importer], let it register itself in
// init, and describe its key in package scenarios/keys.
//
// Files in reading order: importers.go; hf.go, hfexperts.go and hffamilies.go read
// Hugging Face's config.json; jsonobject.go reads JSON with places.
package importers
