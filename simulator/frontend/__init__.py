"""From CUDA C to the typed tree: libclang, directives, templates, what is not supported."""
