"""What can be measured of the judges, one script each."""
