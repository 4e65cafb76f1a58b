package arm64

var controlRows = []row{}
