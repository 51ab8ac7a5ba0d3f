"""AWS's service APIs on loopback: one moto server, corrected where Plimsoll relies on AWS's way."""
