package seccomp

// Arch is the architecture the filter is written for.
const Arch = auditArch
