"""The sentences about steps, barriers, warps, hazards and verdicts: wording, and no facts."""
