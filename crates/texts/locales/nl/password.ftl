password-too-short = Het nieuwe wachtwoord moet minstens 8 tekens hebben.
password-too-short-longer = Het nieuwe wachtwoord is te kort. Onder het veld staat hoe lang het moet zijn.
password-too-long = Het nieuwe wachtwoord is te lang.
password-repeated = Het nieuwe wachtwoord is één herhaald teken. Kies een ander.
password-common = Veel mensen kiezen dit wachtwoord, en het wordt als eerste geraden. Kies een ander.
password-name = Het nieuwe wachtwoord bestaat uit uw naam of adres, of bevat die. Kies een ander.
password-server = Het nieuwe wachtwoord bevat de naam van deze server. Kies een ander.
