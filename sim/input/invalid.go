package input

// Invalid marks an error as the fault of what was given, not of the program that
// reads it: a file that is not what it should be, or a job that combines things
// that exist into something that does not.
type Invalid struct{ Err error }

// Error returns the text of what is wrong.
func (e *Invalid) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *Invalid) Unwrap() error { return e.Err }
