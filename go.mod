module bridgecheck

go 1.26.0
