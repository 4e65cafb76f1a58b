package live

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotap/engine/testenv"
)

// TestScraped: a Prometheus that scrapes a session answers queries about its metrics.
func TestScraped(t *testing.T) {
	testenv.Require(t, testenv.Scraper)
	s := listen(t, board(42), "a long secret")
	dir := t.TempDir()
	config := fmt.Sprintf("scrape_configs:\n- job_name: gotap\n  scrape_interval: 100ms\n  scrape_timeout: 100ms\n  authorization: {credentials: a long secret}\n  static_configs: [{targets: ['%s']}]\n", s.listener.Addr())
	if err := os.WriteFile(filepath.Join(dir, "p.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	cmd := exec.Command("prometheus", "--config.file="+filepath.Join(dir, "p.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	defer func() {
		cmd.Process.Kill()
		<-over
	}()
	query := "http://" + address + "/api/v1/query?query=" + url.QueryEscape(`gotap_calls_total{program="prog",job="gotap"}`)
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		got := value(query)
		if got == "42" {
			return
		}
		if len(over) > 0 || time.Now().After(until) {
			t.Fatalf("the value is %q; Prometheus says\n%s", got, said.String())
		}
	}
}

// value returns the value of the only series of a query; "" while there is none.
func value(query string) string {
	answer, err := http.Get(query)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	var d struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if json.NewDecoder(answer.Body).Decode(&d) != nil || len(d.Data.Result) != 1 {
		return ""
	}
	return fmt.Sprint(d.Data.Result[0].Value[1])
}
