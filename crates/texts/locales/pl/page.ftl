page-address-hint = Jesteś na { $host }. Zanim wpiszesz hasło, sprawdź, czy pasek adresu pokazuje to samo.
page-or = lub
page-continue = Dalej
page-cancel = Anuluj
page-allow = Zezwól
page-deny = Odmów
page-language = Język
page-language-change = Zmień
page-privacy = Prywatność
page-terms = Warunki
page-help = Pomoc
page-for-minutes = { $minutes ->
    [one] przez { $minutes } minutę
    [few] przez { $minutes } minuty
   *[other] przez { $minutes } minut
}
page-close = Możesz zamknąć tę stronę.
page-not-set = nie ustawiono
page-yes = tak
page-no = nie
page-logged-in-as = Zalogowano jako { $name }.
page-to-account = Przejdź do konta
page-device-app-scheme = aplikacja na tym urządzeniu ({ $scheme })
page-missing-title = Nie znaleziono strony
page-missing-heading = Takiej strony nie ma
page-missing-text = Być może w adresie jest błąd albo strona została przeniesiona.
