package arm64

var atomicRows = []row{}
