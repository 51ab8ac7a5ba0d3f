"""Creating, inspecting and destroying targets."""
