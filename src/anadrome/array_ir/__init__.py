"""The array IR: functional, let-normal, pointful, with one parallel construct."""
