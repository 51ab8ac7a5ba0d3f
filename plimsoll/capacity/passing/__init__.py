"""Which steps pass, the verdict that follows, and the range of the edge."""
