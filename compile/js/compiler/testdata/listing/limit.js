({
  enter(c) {
    if (c.arg0 > LIMIT) log(`big ${c.arg0}`);
  },
});
