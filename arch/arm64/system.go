package arm64

var systemRows = []row{}
