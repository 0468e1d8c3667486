page-address-hint = Sie sind bei { $host }. Prüfen Sie, ob das in der Adresszeile steht, bevor Sie ein Passwort eingeben.
page-or = oder
page-continue = Weiter
page-cancel = Abbrechen
page-allow = Erlauben
page-deny = Ablehnen
page-language = Sprache
page-language-change = Ändern
page-privacy = Datenschutz
page-terms = Bedingungen
page-help = Hilfe
page-for-minutes = { $minutes ->
    [one] { $minutes } Minute lang
   *[other] { $minutes } Minuten lang
}
page-close = Sie können diese Seite schließen.
page-not-set = nicht gesetzt
page-yes = ja
page-no = nein
page-logged-in-as = Sie sind angemeldet als { $name }.
page-to-account = Zu Ihrem Konto
page-device-app-scheme = eine App auf diesem Gerät ({ $scheme })
page-missing-title = Seite nicht gefunden
page-missing-heading = Diese Seite gibt es nicht
page-missing-text = Vielleicht ist die Adresse falsch geschrieben, oder die Seite ist umgezogen.
