package discordtest

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// conn is a client's connection. Server.mu guards its fields; the outbox has a
// lock of its own.
type conn struct {
	s        *Server
	ws       *websocket.Conn
	resume   bool // came to the address that READY told
	session  *session
	compress bool // each payload by itself, as Identify asked
	mute     bool
	closing  bool // by the server; what the client sends is of no interest any more
	sends    window
	watchdog *time.Timer

	out outbox
}

// outbox is what is still to be written. Its writer is woken by wake.
type outbox struct {
	mu     sync.Mutex
	frames []frame
	ended  bool
	wake   chan struct{}
}

// frame is a payload, or a close frame if code is not 0; abort breaks off.
type frame struct {
	data     []byte
	compress bool
	code     int
	reason   string
	abort    bool
}

func (o *outbox) push(f frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	if len(o.frames) >= maxOutbox {
		f = frame{abort: true} // a client that does not read
	}
	if f.abort {
		o.frames = nil
	}
	o.frames = append(o.frames, f)
	o.ended = f.abort || f.code != 0
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) take() []frame {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.frames
	o.frames = nil
	return f
}

func (c *conn) send(v map[string]any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("discordtest: " + err.Error()) // only values of our own
	}
	c.sendRaw(raw)
}

func (c *conn) sendRaw(raw []byte) {
	if !c.mute {
		c.out.push(frame{data: raw, compress: c.compress})
	}
}

// abort breaks the connection without a close frame. The caller holds mu.
func (c *conn) abort() {
	c.closing = true
	c.out.push(frame{abort: true})
}

// write writes what is in the outbox until a close frame, an abort or an error.
func (c *conn) write(stream bool) {
	var packed bytes.Buffer
	var whole *zlib.Writer
	if stream {
		whole = zlib.NewWriter(&packed)
	}
	for range c.out.wake {
		for _, f := range c.out.take() {
			_ = c.ws.SetWriteDeadline(time.Now().Add(10 * time.Second))
			var err error
			switch {
			case f.abort:
				_ = c.ws.Close()
				return
			case f.code != 0:
				_ = c.ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(f.code, f.reason))
				// Wait for the client's close frame, not for ever.
				_ = c.ws.SetReadDeadline(time.Now().Add(2 * time.Second))
				return
			case stream:
				packed.Reset()
				_, _ = whole.Write(f.data) // into memory: no errors
				_ = whole.Flush()
				err = c.ws.WriteMessage(websocket.BinaryMessage, packed.Bytes())
			case f.compress:
				packed.Reset()
				z := zlib.NewWriter(&packed)
				_, _ = z.Write(f.data)
				_ = z.Close()
				err = c.ws.WriteMessage(websocket.BinaryMessage, packed.Bytes())
			default:
				err = c.ws.WriteMessage(websocket.TextMessage, f.data)
			}
			if err != nil {
				_ = c.ws.Close()
				return
			}
		}
	}
}
