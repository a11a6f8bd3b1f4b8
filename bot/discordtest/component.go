package discordtest

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// The types of components and their limits.
// https://discord.com/developers/docs/components/reference
const (
	componentRow       = 1
	componentButton    = 2
	componentString    = 3
	componentTextInput = 4
	componentUser      = 5
	componentRole      = 6
	componentMention   = 7
	componentChannel   = 8
	componentSection   = 9
	componentText      = 10
	componentThumbnail = 11
	componentGallery   = 12
	componentFile      = 13
	componentSeparator = 14
	componentContainer = 17

	maxComponents = 40
	maxRows       = 5
)

// component is what is checked of any component.
type component struct {
	Type        int               `json:"type"`
	Style       int               `json:"style"`
	CustomID    string            `json:"custom_id"`
	Label       string            `json:"label"`
	URL         string            `json:"url"`
	Emoji       json.RawMessage   `json:"emoji"`
	Content     string            `json:"content"`
	Placeholder string            `json:"placeholder"`
	Options     []selectOption    `json:"options"`
	Components  []json.RawMessage `json:"components"`
	Accessory   json.RawMessage   `json:"accessory"`
}

type selectOption struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description"`
}

// componentCheck is the state of one message's check.
type componentCheck struct {
	f     *form
	v2    bool
	total int
	text  int
	ids   map[string]bool
}

// components checks a message's components; v2 says that its flag
// IS_COMPONENTS_V2 is set.
func (f *form) components(raw json.RawMessage, v2 bool, path ...string) []json.RawMessage {
	var items []json.RawMessage
	if !f.decode(raw, &items, path...) {
		return nil
	}
	ck := &componentCheck{f: f, v2: v2, ids: map[string]bool{}}
	if !v2 && len(items) > maxRows {
		f.add("BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between 1 and %d in length.", maxRows), path...)
	}
	for i, item := range items {
		ck.one(item, 0, sub(path, strconv.Itoa(i)))
	}
	if ck.total > maxComponents && v2 {
		f.add("COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", fmt.Sprintf("The total number of components must be %d or fewer.", maxComponents), path...)
	}
	if ck.text > 4000 {
		f.add("COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", "Displayable text size exceeds maximum of 4000", path...)
	}
	return items
}

func (ck *componentCheck) one(raw json.RawMessage, parent int, at []string) {
	f := ck.f
	var c component
	if !f.decode(raw, &c, at...) {
		return
	}
	ck.total++
	if !ck.allowed(c.Type, parent) {
		f.add("UNION_TYPE_CHOICES", fmt.Sprintf("Component type %d is not allowed here.", c.Type), sub(at, "type")...)
		return
	}
	switch c.Type {
	case componentRow:
		ck.row(c, at)
	case componentButton:
		ck.button(c, at)
	case componentString, componentUser, componentRole, componentMention, componentChannel:
		ck.selectMenu(c, at)
	case componentText:
		ck.text += length(c.Content)
		f.text(c.Content, 4000, true, sub(at, "content")...)
	case componentSection:
		if n := len(c.Components); n < 1 || n > 3 {
			f.add("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 3 in length.", sub(at, "components")...)
		}
		if len(c.Accessory) == 0 {
			f.add("BASE_TYPE_REQUIRED", "This field is required", sub(at, "accessory")...)
		} else {
			ck.one(c.Accessory, componentSection, sub(at, "accessory"))
		}
	}
	if c.Type == componentRow || c.Type == componentSection || c.Type == componentContainer {
		for i, child := range c.Components {
			ck.one(child, c.Type, sub(at, "components", strconv.Itoa(i)))
		}
	}
}

func (ck *componentCheck) allowed(kind, parent int) bool {
	if parent == componentRow {
		return kind == componentButton || kind == componentString || kind >= componentUser && kind <= componentChannel
	}
	if !ck.v2 {
		return kind == componentRow
	}
	switch parent {
	case componentSection:
		return kind == componentText || kind == componentButton || kind == componentThumbnail
	case componentContainer:
		return kind == componentRow || kind >= componentSection && kind <= componentSeparator && kind != componentThumbnail
	}
	return kind == componentRow || kind == componentContainer ||
		kind >= componentSection && kind <= componentSeparator && kind != componentThumbnail
}

func (ck *componentCheck) row(c component, at []string) {
	if n := len(c.Components); n < 1 || n > 5 {
		ck.f.add("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.", sub(at, "components")...)
	}
	for _, raw := range c.Components {
		var child component
		if json.Unmarshal(raw, &child) == nil && child.Type != componentButton && len(c.Components) > 1 {
			ck.f.add("COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width", sub(at, "components")...)
			return
		}
	}
}

func (ck *componentCheck) customID(id string, at []string) {
	if n := length(id); n < 1 || n > 100 {
		ck.f.add("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.", sub(at, "custom_id")...)
	}
	if ck.ids[id] {
		ck.f.add("COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated", sub(at, "custom_id")...)
	}
	ck.ids[id] = true
}

func (ck *componentCheck) button(c component, at []string) {
	if length(c.Label) > 80 {
		ck.f.add("BASE_TYPE_MAX_LENGTH", "Must be 80 or fewer in length.", sub(at, "label")...)
	}
	switch {
	case c.Style >= 1 && c.Style <= 4:
		ck.customID(c.CustomID, at)
		if c.URL != "" {
			ck.f.add("BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified", at...)
		}
	case c.Style == 5:
		if c.URL == "" || length(c.URL) > 512 {
			ck.f.add("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 512 in length.", sub(at, "url")...)
		}
		ck.f.link(c.URL, false, sub(at, "url")...)
	case c.Style != 6:
		ck.f.add("BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.", sub(at, "style")...)
	}
	if c.Style != 6 && c.Label == "" && (len(c.Emoji) == 0 || string(c.Emoji) == "null") {
		ck.f.add("BUTTON_COMPONENT_MISSING_LABEL", "A label or emoji is required", at...)
	}
}

func (ck *componentCheck) selectMenu(c component, at []string) {
	ck.customID(c.CustomID, at)
	if length(c.Placeholder) > 150 {
		ck.f.add("BASE_TYPE_MAX_LENGTH", "Must be 150 or fewer in length.", sub(at, "placeholder")...)
	}
	if c.Type != componentString {
		return
	}
	if n := len(c.Options); n < 1 || n > 25 {
		ck.f.add("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 25 in length.", sub(at, "options")...)
	}
	values := map[string]bool{}
	for i, o := range c.Options {
		p := sub(at, "options", strconv.Itoa(i))
		ck.f.text(o.Label, 100, true, sub(p, "label")...)
		ck.f.text(o.Value, 100, true, sub(p, "value")...)
		ck.f.text(o.Description, 100, false, sub(p, "description")...)
		if values[o.Value] {
			ck.f.add("SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used", sub(p, "value")...)
		}
		values[o.Value] = true
	}
}
