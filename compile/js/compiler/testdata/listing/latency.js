({
  enter({ arg0 }) { this.want = arg0; },
  leave(c) {
    if (this.want < LIMIT || !c.ret) return;
    byKey.at(c.comm, c.elapsed / 1000).add(this.want);
    exit({ want: this.want, stack: c.stack(8) });
  },
});
