package scenarios

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"trainsim/scenarios/keys"
	"trainsim/sim/input"
)

// decoder fills Go values from a tree and remembers which keys failed, so that
// later checks do not stumble over them again.
type decoder struct {
	out *input.Problems
	bad map[string]bool
}

// fail records that a key cannot be used.
func (d *decoder) fail(at input.Span, path, format string, args ...any) {
	d.bad[path] = true
	d.out.Add(at, path, format, args...)
}

// isBad reports whether a key, or a table around it, failed already.
func (d *decoder) isBad(path string) bool {
	for {
		if d.bad[path] {
			return true
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return false
		}
		path = path[:i]
	}
}

// table fills a struct from a table.
func (d *decoder) table(v reflect.Value, n *node, path string) {
	fields := keys.FieldsOf(v.Type())
	for _, key := range n.keys {
		i := -1
		for _, f := range fields {
			if f.Name == key {
				i = f.Index
			}
		}
		if i < 0 {
			d.unknown(n.sub[key], fields, n, path, key)
			continue
		}
		d.value(v.Field(i), n.sub[key], keys.Join(path, key))
	}
}

// unknown reports a key that the table does not have. The key that it probably
// means, when it is missing, is not reported as missing as well.
func (d *decoder) unknown(value *node, fields []keys.Field, table *node, path, key string) {
	var known []string
	for _, f := range fields {
		known = append(known, f.Name)
	}
	known = append(known, keys.Extra(path)...)
	if keys.HadNoEffect(keys.Join(path, key)) {
		d.fail(value.key, keys.Join(path, key), "is not a key of %s any more, because nothing depended on it; leave "+
			"it out", tableName(path))
		return
	}
	hint := input.DidYouMean(key, known)
	if near := input.Nearest(key, known); near != "" {
		if table.get(near) == nil {
			d.bad[keys.Join(path, near)] = true
		}
	} else if home := keys.Home(key); home != "" {
		hint = fmt.Sprintf("write %s as %s", key, home)
		d.bad[home] = true
	}
	d.fail(value.key, keys.Join(path, key), "is not a key of %s; %s", tableName(path), hint)
}

func tableName(path string) string {
	if path == "" {
		return "a scenario"
	}
	return "[" + path + "]"
}

// value fills one value of any type that a Config holds.
func (d *decoder) value(v reflect.Value, n *node, path string) {
	switch {
	case v.CanAddr() && isText(v.Addr()):
		d.textValue(v, n, path)
	case v.Kind() == reflect.Struct:
		if d.want(n, path, tableNode) {
			d.table(v, n, path)
		}
	case v.Kind() == reflect.Slice:
		d.slice(v, n, path)
	case v.Kind() == reflect.String:
		d.stringValue(v, n, path)
	case v.Kind() == reflect.Bool:
		if d.want(n, path, boolNode) {
			v.SetBool(n.bool)
		}
	case v.CanInt() || v.CanUint():
		d.integer(v, n, path)
	case v.CanFloat():
		d.number(v, n, path)
	}
}

// isText reports whether a type reads itself from text.
func isText(v reflect.Value) bool {
	_, ok := v.Interface().(encoding.TextUnmarshaler)
	return ok
}

// want checks the kind of a node.
func (d *decoder) want(n *node, path string, kind nodeKind) bool {
	if n.kind == kind {
		return true
	}
	hint := ""
	if k, ok := keys.Find(path); kind == stringNode && len(k.Values) == 0 && n.text != "" {
		hint = fmt.Sprintf("; write it in quotes, as in %s", input.Quote(n.text))
	} else if ok {
		hint = "; write " + k.Example()
	} else if kind == tableNode {
		hint = fmt.Sprintf("; write its keys under [%s]", path)
	}
	d.fail(n.at, path, "is %s, not %s%s", n.kind, kind, hint)
	return false
}

// textValue fills a type that reads itself from text: a quantity with a unit or
// an enumeration.
func (d *decoder) textValue(v reflect.Value, n *node, path string) {
	u := v.Addr().Interface().(encoding.TextUnmarshaler)
	switch {
	case n.kind == tableNode || n.kind == arrayNode || n.kind == boolNode && !n.fromSet || n.kind == dateNode:
		d.want(n, path, stringNode)
	case n.kind != stringNode && !n.fromSet && v.Kind() != reflect.Uint8:
		if err := u.UnmarshalText([]byte(n.text)); err != nil {
			d.fail(n.at, path, "%s", quoting(err, n.text, n.text))
			return
		}
		d.fail(n.at, path, "is %s, not a string; write it in quotes", n.kind)
	default:
		if err := u.UnmarshalText([]byte(n.text)); err != nil {
			d.fail(n.at, path, "%s", quoting(err, n.text, input.Quote(n.text)))
		}
	}
}

// quoting gives the words of an error that quotes a text, with the text written
// as asked for: bare, as the file has it, or no longer than an error shows.
func quoting(err error, text, as string) string {
	return strings.Replace(err.Error(), strconv.Quote(text), as, 1)
}

func (d *decoder) stringValue(v reflect.Value, n *node, path string) {
	if !(n.fromSet && n.kind != tableNode && n.kind != arrayNode) && !d.want(n, path, stringNode) {
		return
	}
	k, _ := keys.Find(path)
	if len(k.Values) > 0 && !slices.Contains(k.Values, n.text) {
		d.fail(n.at, path, "%s is not known here; %s", input.Quote(n.text), input.DidYouMean(n.text, k.Values))
		return
	}
	if i := strings.IndexFunc(n.text, unprintable); i >= 0 {
		d.fail(n.at, path, "has the control character %U; take it out", []rune(n.text[i:])[0])
		return
	}
	v.SetString(n.text)
}

// unprintable says which characters no text of a scenario has: a terminal would
// take them for commands.
func unprintable(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
}

func (d *decoder) integer(v reflect.Value, n *node, path string) {
	if n.kind == floatNode && n.float == math.Trunc(n.float) && math.Abs(n.float) < 1<<53 {
		d.fail(n.at, path, "%s is not an integer; write %.0f", n.text, n.float)
		return
	}
	if k, _ := keys.Find(path); n.kind == floatNode {
		d.fail(n.at, path, "%s is not a whole number; write %s", n.text, k.RangeText())
		return
	}
	if !d.want(n, path, intNode) || !d.inRange(float64(n.int), n, path) {
		return
	}
	switch {
	case v.CanInt() && !v.OverflowInt(n.int):
		v.SetInt(n.int)
	case v.CanUint() && !v.OverflowUint(uint64(n.int)):
		v.SetUint(uint64(n.int))
	default:
		d.fail(n.at, path, "%s is too large", n.text)
	}
}

func (d *decoder) number(v reflect.Value, n *node, path string) {
	if n.kind == intNode || d.want(n, path, floatNode) {
		if d.inRange(n.float, n, path) {
			v.SetFloat(n.float)
		}
	}
}

// maxCount bounds every whole number of a scenario, so that products of a few
// of them stay far from overflow.
const maxCount = 1 << 40

// inRange checks a number against the range of its key: by default anything
// finite that is not negative.
func (d *decoder) inRange(x float64, n *node, path string) bool {
	k, _ := keys.Find(path)
	high := k.Max
	if high == 0 {
		high = maxCount
	}
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		d.fail(n.at, path, "%s is not a finite number; write %s", n.text, k.Example())
	case x < 0:
		d.fail(n.at, path, "%s is negative; write %s", n.text, k.RangeText())
	case x < k.Min || x > high:
		d.fail(n.at, path, "%s is out of range; write %s", n.text, k.RangeText())
	default:
		return true
	}
	return false
}

func (d *decoder) slice(v reflect.Value, n *node, path string) {
	if !d.want(n, path, arrayNode) {
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		d.value(out.Index(i), item, fmt.Sprintf("%s[%d]", path, i))
		if d.bad[fmt.Sprintf("%s[%d]", path, i)] {
			d.bad[path] = true
		}
	}
	if len(n.items) > 0 {
		v.Set(out)
	}
}
