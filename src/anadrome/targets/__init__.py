"""From the kernel IR to machines: one LLVM emitter, one file for each machine."""
