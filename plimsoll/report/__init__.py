"""Reports: the page of a run, pictures, tables, summaries for pipelines, and comparisons."""
