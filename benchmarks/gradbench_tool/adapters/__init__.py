"""One file for each eval: its functions, by name, as `FUNCTIONS`."""
