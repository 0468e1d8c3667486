page-address-hint = È su { $host }. Controlli che lo dica la barra degli indirizzi prima di inserire una password.
page-or = oppure
page-continue = Continua
page-cancel = Annulla
page-allow = Consenti
page-deny = Rifiuta
page-language = Lingua
page-language-change = Cambia
page-privacy = Privacy
page-terms = Condizioni
page-help = Aiuto
page-for-minutes = { $minutes ->
    [one] per { $minutes } minuto
   *[other] per { $minutes } minuti
}
page-close = Può chiudere questa pagina.
page-not-set = non impostato
page-yes = sì
page-no = no
page-logged-in-as = Ha effettuato l’accesso come { $name }.
page-to-account = Vai al Suo account
page-device-app-scheme = un’app su questo dispositivo ({ $scheme })
page-missing-title = Pagina non trovata
page-missing-heading = Questa pagina non esiste
page-missing-text = L’indirizzo potrebbe essere errato o la pagina potrebbe essere stata spostata.
