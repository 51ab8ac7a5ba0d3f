"""Teams: which team a caller belongs to, what each may use and spend, and its release."""
