package hour

// Stored is how a match of Riot's is kept.
var Stored = stored
