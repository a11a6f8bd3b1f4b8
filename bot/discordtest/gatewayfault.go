package discordtest

import "fmt"

// GatewayStage is the point at which a [GatewayFault] strikes.
type GatewayStage string

// The stages. Each but StageNow takes the place of what the server would send
// then: Hello, READY, RESUMED (and what is replayed), a heartbeat's ACK.
const (
	StageConnect   GatewayStage = "connect" // in place of the websocket handshake
	StageHello     GatewayStage = "hello"
	StageIdentify  GatewayStage = "identify"
	StageResume    GatewayStage = "resume"
	StageHeartbeat GatewayStage = "heartbeat"
	StageNow       GatewayStage = "now" // all connections there are, at once
)

// GatewayAction is what a [GatewayFault] does.
type GatewayAction string

// The actions.
const (
	// ActReconnect sends op 7; the session can be resumed.
	ActReconnect GatewayAction = "reconnect"
	// ActInvalidSession sends op 9 with Resumable.
	ActInvalidSession GatewayAction = "invalid_session"
	// ActClose closes with Code and Reason. At StageConnect it answers 503.
	ActClose GatewayAction = "close"
	// ActDrop breaks the connection without a close frame.
	ActDrop GatewayAction = "drop"
	// ActSilent sends nothing: at StageHeartbeat this ACK is left out and all
	// else goes on (a zombie), elsewhere the connection stays open and mute
	// for good. Events meanwhile wait for a resume.
	ActSilent GatewayAction = "silent"
)

// GatewayFault makes the gateway fail at a stage.
type GatewayFault struct {
	At GatewayStage
	Do GatewayAction
	// Resumable is op 9's d.
	Resumable bool
	Code      int
	Reason    string
	// Count is how often it strikes; 0 is once, negative until ClearFaults.
	// StageNow strikes once.
	Count int
}

// Validate says what is wrong with f.
func (f GatewayFault) Validate() error {
	switch f.At {
	case StageConnect, StageHello, StageIdentify, StageResume, StageHeartbeat, StageNow:
	default:
		return fmt.Errorf("gateway stage %q is unknown", f.At)
	}
	switch f.Do {
	case ActReconnect, ActInvalidSession:
		if f.At == StageConnect {
			return fmt.Errorf("gateway action %q is impossible at stage %q", f.Do, f.At)
		}
	case ActDrop, ActSilent:
	case ActClose:
		if f.At != StageConnect && (f.Code < 1000 || f.Code > 4999) {
			return fmt.Errorf("gateway close code %d is not within 1000 and 4999", f.Code)
		}
	default:
		return fmt.Errorf("gateway action %q is unknown", f.Do)
	}
	return nil
}

// FailGateway makes the gateway fail as f says. The oldest fault of a stage
// strikes first. It panics if f is not valid.
func (s *Server) FailGateway(f GatewayFault) {
	if err := f.Validate(); err != nil {
		panic("discordtest: " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.At == StageNow {
		for c := range s.conns {
			s.strike(c, &f)
		}
		return
	}
	if f.Count == 0 {
		f.Count = 1
	}
	s.faults.gateway = append(s.faults.gateway, &f)
}

// takeGateway returns the fault of a stage, or nil.
func (f *faults) takeGateway(at GatewayStage) *GatewayFault {
	for i, x := range f.gateway {
		if x.At != at {
			continue
		}
		if x.Count > 0 {
			if x.Count--; x.Count == 0 {
				f.gateway = append(f.gateway[:i:i], f.gateway[i+1:]...)
			}
		}
		return x
	}
	return nil
}

// strike does what f says to c. The caller holds mu.
func (s *Server) strike(c *conn, f *GatewayFault) {
	switch f.Do {
	case ActReconnect:
		c.send(map[string]any{"op": opReconnect, "d": nil})
	case ActInvalidSession:
		if !f.Resumable {
			s.dropSession(c.session)
		}
		c.send(map[string]any{"op": opInvalidSession, "d": f.Resumable})
	case ActClose:
		s.closeConn(c, f.Code, f.Reason)
	case ActDrop:
		c.abort()
	case ActSilent:
		c.mute = true
	}
}
