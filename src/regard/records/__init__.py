"""What was attended to, as plain data: the record that is drawn, saved and sent."""
