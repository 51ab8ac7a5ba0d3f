"""What production asks of its database today, and where it stands of its load line."""
