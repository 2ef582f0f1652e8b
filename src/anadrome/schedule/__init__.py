"""Kernel IR to kernel IR: what runs the parts of a program on a machine. `cpu.schedule_cpu` is the door."""
