// Package escape makes the attempts that an agent must not succeed with (area
// ESC). Each has a control outside the sandbox that shows the door to exist, a
// set of right errnos, never "any failure", and a far side that heard nothing.
package escape
