// Package container finds the containers of this machine and their processes: by control groups, so that it asks no
// daemon and needs no socket.
//
// An engine puts the processes of a container into a control group named for the container's ID. Parse reads the ID
// from the text of /proc/PID/cgroup, which shows the path of that group also from inside another container, as
// "/../NAME". List does so for all processes that can be seen, and Find chooses one container by the beginning of its
// ID.
//
// A process of a container inside a container belongs to both.
package container
