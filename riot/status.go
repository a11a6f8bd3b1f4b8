package riot

import (
	"context"
	"encoding/json"
)

// Status asks for a platform's maintenances and incidents.
func (c Caller) Status(ctx context.Context, on Platform) (Status, error) {
	r := statusRequest(on)
	if !on.Valid() {
		return Status{}, r.fail(KindRejected, errNoRoute)
	}
	s := Status{Platform: on}
	err := c.get(ctx, r, func(body []byte) error {
		var raw struct {
			ID           string   `json:"id"`
			Maintenances []notice `json:"maintenances"`
			Incidents    []notice `json:"incidents"`
		}
		if err := json.Unmarshal(body, &raw); err != nil {
			return err
		}
		if raw.ID == "" && raw.Maintenances == nil && raw.Incidents == nil {
			return errForeign
		}
		s.Maintenances, s.Incidents = titles(raw.Maintenances), titles(raw.Incidents)
		return nil
	})
	if err != nil {
		return Status{}, err
	}
	return s, nil
}

func statusRequest(on Platform) request {
	return request{
		method:   MethodStatus,
		route:    string(on),
		segments: []string{"lol", "status", "v4", "platform-data"},
	}
}

// notice is a maintenance or an incident.
type notice struct {
	Titles []struct {
		Locale  string `json:"locale"`
		Content string `json:"content"`
	} `json:"titles"`
}

// titles are the notices' titles in English, or in the first language there is.
func titles(notices []notice) []string {
	var all []string
	for _, n := range notices {
		title := ""
		for _, t := range n.Titles {
			if title == "" || t.Locale == "en_US" && t.Content != "" {
				title = t.Content
			}
		}
		if title != "" {
			all = append(all, title)
		}
	}
	return all
}
