package report

import "encoding/json"

// Name returns the scenario's name, "" if it has none. What the report holds as
// its scenario is a configuration or, in a saved run, a map.
func (r *Report) Name() string {
	switch s := r.Scenario.(type) {
	case nil:
		return ""
	case string:
		return s
	case map[string]any:
		for _, key := range []string{"name", "Name"} {
			if name, ok := s[key].(string); ok {
				return name
			}
		}
		return ""
	}
	text, err := json.Marshal(r.Scenario)
	if err != nil {
		return ""
	}
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(text, &named) != nil {
		return ""
	}
	return named.Name
}
