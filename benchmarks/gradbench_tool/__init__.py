"""The GradBench protocol (`protocol`, `function`, `values`) and one adapter for each eval (`adapters`)."""
