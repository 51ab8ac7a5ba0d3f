"""Teams: who a caller is, what each team may hold at once and spend, and giving it back."""
