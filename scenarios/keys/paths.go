package keys

import (
	"encoding"
	"reflect"
	"strings"
	"sync"

	"trainsim/sim/job"
)

// paths lists the path of every value that a Config holds, in the order
// of its structs; elements of arrays go by the array's path.
var paths = sync.OnceValue(func() []string {
	var out []string
	walkPaths(reflect.TypeFor[job.Config](), "", &out)
	return out
})

func walkPaths(t reflect.Type, path string, out *[]string) {
	switch {
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		*out = append(*out, path)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		walkPaths(t.Elem(), path, out)
	case t.Kind() == reflect.Struct:
		for _, f := range FieldsOf(t) {
			walkPaths(t.Field(f.Index).Type, Join(path, f.Name), out)
		}
	default:
		*out = append(*out, path)
	}
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// Field is one key of a struct.
type Field struct {
	Name  string
	Index int
}

// FieldsOf lists the keys of a struct in order: the toml tags. A Name without a
// tag of its own ("-") is written as name: presets are named by their files,
// resolved scenarios by this key.
func FieldsOf(t reflect.Type) []Field {
	var out []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if f.Name == "Name" && name == "-" {
			name = "name"
		}
		if f.IsExported() && name != "-" && name != "" {
			out = append(out, Field{name, i})
		}
	}
	return out
}

// Join appends a key to a path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
