password-too-short = Nowe hasło musi mieć co najmniej 8 znaków.
password-too-short-longer = Nowe hasło jest za krótkie. Wymagana długość jest podana pod polem.
password-too-long = Nowe hasło jest za długie.
password-repeated = Nowe hasło to jeden powtórzony znak. Wybierz inne.
password-common = Nowe hasło jest często wybierane i odgadywane jako pierwsze. Wybierz inne.
password-name = Nowe hasło składa się z Twojej nazwy lub adresu albo je zawiera. Wybierz inne.
password-server = Nowe hasło zawiera nazwę tego serwera. Wybierz inne.
