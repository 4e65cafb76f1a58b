package symtab

// AskAgain makes the next questions be answered from subsets, if the symbols have not been read as a whole.
func (t *Table) AskAgain() { t.subsets.asked.Store(0) }

// ReadWhole makes all questions be answered from all symbols.
func (t *Table) ReadWhole() { t.symbols() }

// IsWhole reports whether all symbols have been read.
func (t *Table) IsWhole() bool { return t.subsets.all.Load() }
