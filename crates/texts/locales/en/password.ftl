# Why a new password is refused.

password-too-short = The new password needs at least 8 characters.
password-too-short-longer = The new password is too short. Below the field stands how long it must be.
password-too-long = The new password is too long.
password-repeated = The new password is one character repeated. Choose another.
password-common = The new password is one that many people choose, and is guessed first. Choose another.
password-name = The new password is made of your name or address, or has it in it. Choose another.
password-server = The new password has the name of this server in it. Choose another.

# Fields of passwords, where a script helps.
password-show = Show password
password-strength = Strength of the new password
password-short = Too short yet.
password-fits = Long enough, and without your names.
