package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"gotap"
	"gotap/cmd/gotap/debuginfod"
	"gotap/cmd/gotap/status"
	"gotap/engine/image/module"
)

// registerFetch registers --debuginfod.
func (w *World) registerFetch(c *cobra.Command) {
	c.Flags().BoolVar(&w.fetches, "debuginfod", false, "fetch debug information that is missing from the servers in DEBUGINFOD_URLS, by build ID; GOTAP_DEBUGINFOD=1 means the same")
}

// fetcher returns the client that fetches debug files, or nil if the user did not ask for that. A quiet one is silent.
func (w *World) fetcher(quiet bool) (gotap.Fetcher, error) {
	if !w.fetches && os.Getenv("GOTAP_DEBUGINFOD") != "1" {
		return nil, nil
	}
	tell := func(text string) {
		if !quiet {
			fmt.Fprintf(w.errs(), "gotap: %s\n", text)
		}
	}
	urls := os.Getenv("DEBUGINFOD_URLS")
	if urls == "" {
		return nil, status.Hinted(status.With(status.Usage, errors.New("--debuginfod needs the addresses of servers in DEBUGINFOD_URLS")),
			"distributions have one each, such as https://debuginfod.debian.net")
	}
	c, err := debuginfod.New(urls, module.FetchedTo(), debuginfod.DefaultLimits, tell)
	if err != nil {
		return nil, status.With(status.Usage, err)
	}
	return c.Fetch, nil
}
