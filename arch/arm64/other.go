package arm64

var otherRows = []row{}
