"""Models behind a language model: a folder of rule files, tools over it, and a server of the Model Context Protocol."""
