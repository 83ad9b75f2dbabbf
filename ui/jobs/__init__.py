"""Work in other processes: workers, lanes, a cluster, and waiting for them."""
