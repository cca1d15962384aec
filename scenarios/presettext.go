package scenarios

import (
	"slices"
	"strings"
)

// publishedRuns is the key of a preset that says whose published runs the machine
// stands for. It is the file's own: nothing that stands on it has it.
const publishedRuns = "published_runs"

// presetText is the text of a preset file, cut into its tables.
type presetText struct {
	base   string // the preset on which it stands
	remark string // the comment on that
	tables []textTable
}

// textTable is a table's header line, empty above the first one, and its keys.
type textTable struct {
	header string
	keys   []textKey
}

// textKey is a key with its lines and the comment that covers it: the last one
// above it in its table or on the header, with the blank lines before.
type textKey struct {
	name, text, comment string
}

// wholePreset returns the text of a built-in preset with all that it takes from
// those on which it stands, each key below the comment that it has where it is
// written.
func wholePreset(kind, name string) []byte {
	text := readBuiltin(kind + "/" + name + ".toml")
	p := cutPreset(text)
	if p.base == "" {
		return text
	}
	for p.base != "" {
		p = p.over(cutPreset(readBuiltin(kind + "/" + p.base + ".toml")))
	}
	return []byte(p.write())
}

// cutPreset cuts the text of a preset as the built-in ones are written: one key
// a line but for the lines of an array, of which all but the first are indented
// or close it.
func cutPreset(text []byte) presetText {
	p := presetText{tables: []textTable{{}}}
	pending, covers := "", ""
	for line := range strings.Lines(string(text)) {
		t := &p.tables[len(p.tables)-1]
		switch line[0] {
		case '\n', '#':
			pending += line
		case ' ', ']':
			t.keys[len(t.keys)-1].text += line
		case '[':
			p.tables = append(p.tables, textTable{header: line})
			pending, covers = "", pending
		default:
			key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
			if key == "preset" {
				p.base, p.remark = strings.Trim(value, `"`), pending
				pending, covers = "", ""
				continue
			}
			if pending != "" {
				pending, covers = "", pending
			}
			t.keys = append(t.keys, textKey{key, line, covers})
		}
	}
	return p
}

// over lays a preset over the one on which it stands: keys and tables in the
// order of the latter. A [[variant]] of the base goes before the preset's own and
// is without the keys that the preset gives whatever the job.
func (p presetText) over(base presetText) presetText {
	out := presetText{base: base.base, remark: p.remark + base.remark}
	for _, below := range base.tables {
		if below.variant() {
			if below = below.without(p.tables[0]); len(below.keys) > 1 {
				out.tables = append(out.tables, below)
			}
			continue
		}
		merged := textTable{header: below.header}
		own := p.table(below.header)
		for _, k := range below.keys {
			if k.name == publishedRuns {
				continue
			}
			if i := slices.IndexFunc(own.keys, func(x textKey) bool { return x.name == k.name }); i >= 0 {
				k = own.keys[i]
			}
			merged.keys = append(merged.keys, k)
		}
		for _, k := range own.keys {
			if !slices.ContainsFunc(below.keys, func(x textKey) bool { return x.name == k.name }) {
				merged.keys = append(merged.keys, k)
			}
		}
		out.tables = append(out.tables, merged)
	}
	for _, t := range p.tables {
		if t.variant() || base.table(t.header).keys == nil {
			out.tables = append(out.tables, t)
		}
	}
	return out
}

// variant reports whether a table is one of several of its name.
func (t textTable) variant() bool { return strings.HasPrefix(t.header, "[[") }

// without returns the table without the keys of another.
func (t textTable) without(other textTable) textTable {
	t.keys = slices.DeleteFunc(slices.Clone(t.keys), func(k textKey) bool {
		return slices.ContainsFunc(other.keys, func(x textKey) bool { return x.name == k.name })
	})
	return t
}

// table returns the table of a header, an empty one where there is none.
func (p presetText) table(header string) textTable {
	i := slices.IndexFunc(p.tables, func(t textTable) bool { return t.header == header })
	if i < 0 {
		return textTable{header: header}
	}
	return p.tables[i]
}

// write writes a preset that stands on no other. A comment is written where the
// keys that it covers begin.
func (p presetText) write() string {
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(p.remark, "\n"))
	for _, t := range p.tables {
		covers := ""
		if t.header != "" && len(t.keys) > 0 {
			covers = t.keys[0].comment
			b.WriteString("\n" + strings.TrimLeft(covers, "\n") + t.header)
		}
		for _, k := range t.keys {
			switch {
			case k.comment == covers:
			case k.comment == "":
				b.WriteString("\n")
			default:
				b.WriteString(k.comment)
			}
			covers = k.comment
			b.WriteString(k.text)
		}
	}
	return b.String()
}
