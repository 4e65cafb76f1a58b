c => { write.u8(c.arg0 + 5, 0); }; // error `write.u8` without --unsafe
c => { c.regs.rdi = 60; }; // error `c.regs.rdi` without --unsafe
({ leave(c) { c.ret = 99; c.ret++; } }); // error `c.ret` --unsafe // error `c.ret` --unsafe
c => { skip(1234); signal(9); }; // error `skip` --unsafe // error `signal` --unsafe
({ leave(c) { skip(1); } }); // error `skip` --unsafe // error `skip(1)` before it runs
c => { c.ret = 1; }; // error `c.ret` only when the function returns
c => { write.f32(c.arg0, 1.5); write.ptr(c.arg0, 1); }; // error `write.f32` --unsafe // error `write.ptr` --unsafe
c => { write.str(c.arg0, "x"); }; // error `write.str` without --unsafe
