"""Programs whose compilation is measured: long, deep, or written with many functions."""
