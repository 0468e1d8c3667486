page-address-hint = Jste na { $host }. Než zadáte heslo, zkontrolujte, že to stojí v adresním řádku.
page-or = nebo
page-continue = Pokračovat
page-cancel = Zrušit
page-allow = Povolit
page-deny = Zamítnout
page-language = Jazyk
page-language-change = Změnit
page-privacy = Soukromí
page-terms = Podmínky
page-help = Nápověda
page-for-minutes = { $minutes ->
    [one] po dobu { $minutes } minuty
   *[other] po dobu { $minutes } minut
}
page-close = Tuto stránku můžete zavřít.
page-not-set = nenastaveno
page-yes = ano
page-no = ne
page-logged-in-as = Jste přihlášeni jako { $name }.
page-to-account = Přejít na svůj účet
page-device-app-scheme = aplikace na tomto zařízení ({ $scheme })
page-missing-title = Stránka nenalezena
page-missing-heading = Taková stránka neexistuje
page-missing-text = Adresa je možná napsaná chybně nebo se stránka přesunula.
