"""Large launches, split by blocks over processes; the report is what one process says."""
