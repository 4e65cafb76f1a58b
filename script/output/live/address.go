package live

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// loopback is the host of an address without one.
const loopback = "127.0.0.1"

// ParseAddress understands PORT, :PORT and HOST:PORT. local reports whether only this machine can connect; a name other
// than localhost does not count as local, whatever it means now.
func ParseAddress(text string) (address string, local bool, err error) {
	if !strings.Contains(text, ":") {
		text = ":" + text
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", false, errors.New("not HOST:PORT")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", false, fmt.Errorf("%q is not a port from 0 to 65535", port)
	} else if port = strconv.FormatUint(n, 10); host == "" || host == "localhost" {
		host = loopback
	}
	ip := net.ParseIP(host)
	return net.JoinHostPort(host, port), ip != nil && ip.IsLoopback(), nil
}

// isLocalName reports whether the Host of a request names this machine. A page of another site that has its name point
// here is refused by that.
func isLocalName(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
