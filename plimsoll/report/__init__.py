"""What people look at: the page of a run, pictures, tables, and runs compared."""
