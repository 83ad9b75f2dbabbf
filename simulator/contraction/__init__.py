"""Which products a compiler contracts with which sums into one fused multiply-add."""
