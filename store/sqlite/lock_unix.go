//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"riftchime/store"
)

// lockHandle locks f, or says store.ErrHeld.
func lockHandle(f *os.File) error {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return store.ErrHeld
		default:
			return fmt.Errorf("lock %s: %w: %w", f.Name(), store.ErrUnavailable, err)
		}
	}
}
