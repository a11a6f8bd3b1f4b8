package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"riftchime/store"
)

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 50 * time.Millisecond

// fileLock is an exclusive lock on a file that exists for nothing else. The
// system gives it back when the process ends.
type fileLock struct {
	file *os.File
}

// lockFile waits for the lock until ctx ends.
func lockFile(ctx context.Context, path string) (*fileLock, error) {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		l, err := tryLockFile(path)
		if !errors.Is(err, store.ErrHeld) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// tryLockFile takes the lock, or says store.ErrHeld.
func tryLockFile(path string) (*fileLock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, unavailable(err)
		}
		if err := lockHandle(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		// Who held it may have removed the file between the two calls: then
		// this is the lock on a file that nobody will find.
		if mine, err := isAt(f, path); mine {
			return &fileLock{file: f}, nil
		} else if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
	}
}

// isAt says whether f is the file that path names now.
func isAt(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, named), err
}

// remove removes the file and gives the lock back. More than once is the same
// as once.
func (l *fileLock) remove() error {
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return errors.Join(os.Remove(f.Name()), f.Close())
}
