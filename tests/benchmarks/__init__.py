"""Instruments that print or write what a person judges; no test runs them."""
