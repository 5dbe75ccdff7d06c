"""Device times, what the hardware allows, and what a task must move and compute."""
