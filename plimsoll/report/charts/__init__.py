"""Charts as SVG, with their scales, marks and colors."""
