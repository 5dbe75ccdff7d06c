"""The trusted side: verdicts, policy, oracles, comparison."""
