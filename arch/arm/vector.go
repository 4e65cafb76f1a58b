package arm

// decodeVector is the row of an instruction of the vector unit, in A32 form.
func decodeVector(w uint32, thumb bool) (row, error) { return row{}, errUndefined }
