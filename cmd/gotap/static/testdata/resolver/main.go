// Command resolver uses all packages of gotap that use cgo.
package main

import (
	"fmt"
	"net"
	"os/user"

	_ "gotap/cmd/gotap/static"
)

func main() {
	addr, err := net.ResolveTCPAddr("tcp", "127.0.0.1:80")
	who, _ := user.Current()
	fmt.Println(addr, err, who != nil)
}
