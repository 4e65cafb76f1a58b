package arm64

var registerRows = []row{}
