"""The untrusted side: processes that run candidates, and the pipe to them."""
