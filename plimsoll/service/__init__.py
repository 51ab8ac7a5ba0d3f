"""What Plimsoll does as a service to several teams."""
