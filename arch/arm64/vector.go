package arm64

// decodeVector is the row of an instruction of floating point or SIMD: data processing with op0 x111, loads and stores with V set.
func decodeVector(w uint32) (row, error) { return row{}, errUndefined }
