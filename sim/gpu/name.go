package gpu

// Is reports whether a file's name for a GPU means this device: the preset's
// name or one of its aliases, in any case.
func (d *Device) Is(name string) bool {
	if sameName(name, d.Name) {
		return true
	}
	for _, a := range d.Aliases {
		if sameName(name, a) {
			return true
		}
	}
	return false
}

// sameName compares names of GPUs without case, blanks, hyphens and the maker.
func sameName(a, b string) bool { return plainName(a) == plainName(b) && plainName(a) != "" }

func plainName(s string) string {
	var out []byte
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c != ' ' && c != '-' && c != '_':
			out = append(out, c)
		}
	}
	const maker = "nvidia"
	if len(out) > len(maker) && string(out[:len(maker)]) == maker {
		out = out[len(maker):]
	}
	return string(out)
}
