package memory

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// confErrors are texts that PyTorch refuses, and what the error says.
var confErrors = []struct{ text, want string }{
	{"max_split_size", `unknown setting "max_split_size"; did you mean "max_split_size_mb"?`},
	{"expandable_segment:True", `did you mean "expandable_segments"?`},
	{"fragmentation:none", `unknown setting "fragmentation"; the settings are max_split_size_mb,`},
	{"max_split_size_mb", `max_split_size_mb: the text ends after the name; write ":" there`},
	{"max_split_size_mb=128", "unknown setting"},
	{"max_split_size_mb:", `max_split_size_mb: "" is not a whole number`},
	{"max_split_size_mb:19", "max_split_size_mb: 19 is too small; write a number of MiB of at least 20"},
	{"max_split_size_mb:128MB", "is not a whole number"},
	{"max_split_size_mb:-5", "is not a whole number"},
	{"max_split_size_mb:128 expandable_segments:True", `is not a whole number`},
	{"max_split_size_mb:128,,", `found "," where a setting should begin`},
	{"max_split_size_mb:128:2", `found ":" after the value; write "," there`},
	{"max_non_split_rounding_mb:10", "max_non_split_rounding_mb: 10 is too small"},
	{"garbage_collection_threshold:0", "above 0.0 and below 1.0"},
	{"garbage_collection_threshold:1.0", "above 0.0 and below 1.0"},
	{"garbage_collection_threshold:nan", "above 0.0 and below 1.0"},
	{"garbage_collection_threshold:high", "above 0.0 and below 1.0"},
	{"expandable_segments:true", `expandable_segments: "true" is not a truth value; write True or False`},
	{"expandable_segments:1", "write True or False"},
	{"expandable_segments", `write ":" there`},
	{"roundup_power2_divisions:3", "write a power of two"},
	{"roundup_power2_divisions:0", "leave the setting out"},
	{"roundup_power2_divisions:[256:1,512:2", `the text ends after an entry of the list; write "," there`},
	{"roundup_power2_divisions:[256:1,", "the list is not closed"},
	{"roundup_power2_divisions:[300:1]", "300 is not an interval"},
	{"roundup_power2_divisions:[0:1]", "0 is not an interval"},
	{"roundup_power2_divisions:[256:5]", "write a power of two, or 0"},
	{"roundup_power2_divisions:[256]", `found "]" after the size; write ":" there`},
	{"roundup_power2_divisions:[x:1]", "is not a whole number"},
	{"backend:mine", "write native or cudaMallocAsync"},
	{"pinned_num_register_threads:3", "write a power of two up to 128"},
	{"pinned_num_register_threads:256", "write a power of two up to 128"},
	{"pinned_reserve_segment_size_mb:0", "above 0"},
	{"release_lock_on_cudamalloc:yes", "write True or False"},
	{",", `found "," where a setting should begin`},
	{"[", `found "[" where a setting should begin`},
}

func TestConfErrors(t *testing.T) {
	for _, c := range confErrors {
		_, err := ParseConf(c.text)
		require.ErrorContains(t, err, c.want, c.text)
	}
}

func TestConfValues(t *testing.T) {
	get := func(text string) Conf {
		c, err := ParseConf(text)
		require.NoError(t, err, text)
		return c
	}
	c := get(" max_split_size_mb : 128 , garbage_collection_threshold:0.8,backend:native,")
	require.EqualValues(t, 128<<20, c.MaxSplitSize)
	require.Equal(t, 0.8, c.GCThreshold)
	require.EqualValues(t, 20<<20, c.MaxNonSplitRounding)
	require.Equal(t, "native", c.Backend)
	require.EqualValues(t, math.MaxInt64, get("max_split_size_mb:99999999999999999").MaxSplitSize)
	require.Equal(t, DefaultConf(), get(""))
	require.Equal(t, DefaultConf(), Conf{}.normal())
	require.Equal(t, DefaultConf().MaxSplitSize, get("pinned_use_cuda_host_register:True,pinned_num_register_threads:8,"+
		"pinned_use_background_threads:False,release_lock_on_cudamalloc:True,graph_capture_record_stream_reuse:False,"+
		"pinned_reserve_segment_size_mb:64").MaxSplitSize)
	require.Equal(t, "cudaMallocAsync", get("backend:cudaMallocAsync").Backend)
	require.EqualValues(t, 40<<20, get("max_split_size_mb:20,max_split_size_mb:40").MaxSplitSize, "the last one counts")
}

// TestDivisions: the first entry also serves smaller sizes, ">" what follows
// the entry before it, and sizes without an entry are not divided.
func TestDivisions(t *testing.T) {
	for text, want := range map[string][16]int64{
		"4":                        {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
		"[256:1,512:2,1024:4,>:8]": {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8},
		"[4:2,64:8]":               {2, 2, 2, 0, 0, 0, 8},
		"[>:2]":                    {0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
		"[1:4,1048576:2]":          {4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
		"[8:0]":                    {},
		"[]":                       {},
	} {
		c, err := ParseConf("roundup_power2_divisions:" + text)
		require.NoError(t, err, text)
		require.Equal(t, want, c.Divisions, text)
	}
}

// TestConfAtRunTime: three settings fall back to their defaults, two stay.
func TestConfAtRunTime(t *testing.T) {
	c, err := ParseConf("max_split_size_mb:64,max_non_split_rounding_mb:40,garbage_collection_threshold:0.5," +
		"roundup_power2_divisions:4,expandable_segments:True")
	require.NoError(t, err)
	c, err = c.With("")
	require.NoError(t, err)
	require.EqualValues(t, math.MaxInt64, c.MaxSplitSize)
	require.Zero(t, c.GCThreshold)
	require.Equal(t, [16]int64{}, c.Divisions)
	require.EqualValues(t, 40<<20, c.MaxNonSplitRounding)
	require.True(t, c.Expandable)
}
