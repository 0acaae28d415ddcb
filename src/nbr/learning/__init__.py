"""From tables to rules, and from rules to samples and likelihoods."""
