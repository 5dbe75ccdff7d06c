"""pytest plugin that judges Triton kernels: do they compile, are they right, how fast are they."""
