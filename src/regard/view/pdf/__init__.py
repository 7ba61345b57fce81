"""PDF of our own pictures: shapes as shapes, Latin letters as letters, other scripts as fine pixels."""
