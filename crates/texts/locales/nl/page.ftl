page-address-hint = U bent op { $host }. Controleer of de adresbalk dat ook zegt voordat u een wachtwoord typt.
page-or = of
page-continue = Verder
page-cancel = Annuleren
page-allow = Toestaan
page-deny = Weigeren
page-language = Taal
page-language-change = Wijzigen
page-privacy = Privacy
page-terms = Voorwaarden
page-help = Hulp
page-for-minutes = { $minutes ->
    [one] { $minutes } minuut lang
   *[other] { $minutes } minuten lang
}
page-close = U kunt deze pagina sluiten.
page-not-set = niet ingesteld
page-yes = ja
page-no = nee
page-logged-in-as = U bent ingelogd als { $name }.
page-to-account = Naar uw account
page-device-app-scheme = een app op dit apparaat ({ $scheme })
page-missing-title = Pagina niet gevonden
page-missing-heading = Deze pagina bestaat niet
page-missing-text = Misschien is het adres verkeerd getypt of is de pagina verplaatst.
