package html

import (
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/script/output"
)

// measure runs in the page once it is drawn, and writes what it has measured into an attribute of the body.
const measure = `<script>setTimeout(() => {
  const box = e => e.getBoundingClientRect(), all = (s, from = document) => [...from.querySelectorAll(s)];
  const canvas = document.querySelector("canvas"), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const isMark = at => pixels[at] === 0x3b && pixels[at + 1] === 0x82 && pixels[at + 2] === 0xc4;
  let last = -1;
  for (let at = 0; at < pixels.length; at += 4) if (isMark(at)) last = Math.max(last, at / 4 % canvas.width);
  document.body.dataset.seen = JSON.stringify({
    Title: document.title, Heads: all("h2").map(e => e.textContent), Page: document.documentElement.scrollWidth, Window: innerWidth,
    Bars: all(".bar").map(e => Math.round(100 * box(e).width / (box(e.parentNode).width - 2 * parseFloat(getComputedStyle(e.parentNode).paddingLeft)))),
    Middle: all("td.chart").map(e => Math.abs(box(e).top + box(e).bottom - box(e.firstChild).top - box(e.firstChild).bottom) / 2).reduce((a, b) => Math.max(a, b)),
    Outside: all(".flame").flatMap(g => all("div", g).filter(e => box(e).left < box(g).left - 1 || box(e).right > box(g).right + 1 || box(e).bottom > box(g).bottom + 1)).length,
    Folded: all(".parts td").filter(e => box(e).height > 2 * parseFloat(getComputedStyle(e).lineHeight)).length,
    Canvas: canvas.width, Mark: last, Overlaps: all("section").filter((e, k, list) => k > 0 && box(e).top < box(list[k - 1]).bottom - 1).length,
  });
}, 100);</script>`

type seen struct {
	Title                                   string
	Heads                                   []string
	Bars                                    []int // percent of their cells
	Page, Window                            int   // widths
	Middle                                  float64
	Outside, Folded, Canvas, Mark, Overlaps int
}

var seenData = regexp.MustCompile(`data-seen="([^"]*)"`)

// TestRendered has a real browser lay out the page: what it draws has the right size, and nothing is cut off or lies
// over something else.
func TestRendered(t *testing.T) {
	testenv.Require(t, testenv.Chromium)
	p := whole()
	from, to := int64(1<<40), int64(1<<41-1)
	p.Aggregates = append(p.Aggregates, output.Aggregate{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "large", Kind: object.KindHist}, Entries: []snapshot.Entry{{Data: snapshot.Data{
		Kind: object.KindHist, Buckets: []snapshot.Bucket{{Min: &from, Max: &to, Count: 1}}}}}}})
	p.Events[0].Time = 5000 // after all else: its mark is at the right end
	var b strings.Builder
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte(strings.Replace(b.String(), "</body>", measure+"</body>", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+dir, "--window-size=900,800", "--virtual-time-budget=2000", "--dump-dom", "file://"+page)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	m := seenData.FindSubmatch(out)
	if m == nil {
		t.Fatalf("nothing was measured:\n%.3000s", out)
	}
	var s seen
	if err := json.Unmarshal([]byte(html.UnescapeString(string(m[1]))), &s); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Heads, ", "); s.Title != "a.js - gotap" || got != "Lost, Errors, stacks, Aggregations, Stacks, Time line, Output, Script" {
		t.Errorf("%s has %s", s.Title, got)
	}
	if !slices.Equal(s.Bars, []int{50, 100, 100, 100}) || s.Middle > 2 {
		t.Errorf("bars of %d %%, %v from the middle of their rows", s.Bars, s.Middle)
	}
	if s.Page > s.Window || s.Outside != 0 || s.Overlaps != 0 {
		t.Errorf("the page is %d wide in a window of %d; %d boxes of flame graphs are cut, %d sections overlap", s.Page, s.Window, s.Outside, s.Overlaps)
	}
	if s.Folded != 0 {
		t.Errorf("%d cells of aggregations have more than a line", s.Folded)
	}
	if s.Canvas < 700 || s.Mark != s.Canvas-1 {
		t.Errorf("the mark of the last event ends at %d of %d", s.Mark, s.Canvas)
	}
}
