package scenarios

import (
	"reflect"
	"sync"

	"trainsim/sim/job"
)

// configPaths lists the path of every value that a Config holds, in the order
// of its structs; elements of arrays go by the array's path.
var configPaths = sync.OnceValue(func() []string {
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
		for _, f := range fieldsOf(t) {
			walkPaths(t.Field(f.index).Type, join(path, f.name), out)
		}
	default:
		*out = append(*out, path)
	}
}
