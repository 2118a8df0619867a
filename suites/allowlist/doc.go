// Package allowlist checks what the egress proxy passes and what it refuses
// (area ALW). The far side of a refusal is the upstream that got no connection
// and the name server that got no query.
package allowlist
