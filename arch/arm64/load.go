package arm64

var loadRows = []row{}
