"""Small challenges, and the matches that scripted agents really fought over them."""
