"""From a question to a source, to an engine, to an answer."""
