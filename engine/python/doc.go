// Package python finds the Python frames of a stopped thread in the structures of its interpreter: CPython 3.9 to 3.13
// on x86-64.
//
// # One stack, from the thread to names
//
// Files.Of finds the interpreter among the modules of a process, by the exported symbol _PyRuntime, and its version:
// Py_Version has it since 3.11; before, the code of Py_GetVersion refers to a text with it. What is where in the
// structures of a version is in the tables of layout.go; 3.13 says most of it itself (_Py_DebugOffsets).
//
// Reader.Calls finds the state of the thread in the lists of the interpreters. It is known by its pthread_t, the base
// of fs, which needs no thread-local storage of the interpreter's library. Then it follows the frames. Each call of the
// function that evaluates frames (_PyEval_EvalFrameDefault) becomes a Call, with an address in its C frame: that of its
// _PyCFrame (3.10 to 3.12) or of the frame that it pushes below the first (3.13). So package view can put Python frames
// exactly where their C frame is in the C stack (Merge). Since 3.11 a call can have several Python frames, because a
// Python function that calls another does not call C.
//
// In 3.9 such an address does not exist; there the calls and the C frames of the function are paired in their order.
//
// # Nothing is trusted
//
// The thread can be stopped anywhere, in the middle of a change too, and structures of other builds can differ. Each
// read may fail, each list is bounded, and objects count only if their type is PyCode_Type, PyUnicode_Type or
// PyBytes_Type of this interpreter. A name that cannot be read is "?".
//
// # Threads
//
// Files and Reader belong to the tracing thread.
package python
