# An account that is to be erased.

account-delete = Mijn account verwijderen
account-delete-act = Verwijderen
account-delete-ask = Het account { $name } verwijderen?
account-delete-text = Sessies, toepassingen en tokens eindigen meteen. { $days ->
    [one] Na { $days } dag wordt het account voorgoed gewist; tot dan kunt u het behouden met een link die u per mail krijgt.
   *[other] Na { $days } dagen wordt het account voorgoed gewist; tot dan kunt u het behouden met een link die u per mail krijgt.
}
account-delete-sure = Ik wil dat mijn account wordt gewist.
account-delete-confirm = Zet een vinkje om uw account te verwijderen.

deletion-title = Uw account wordt gewist
deletion-when = Het wordt gewist op:
deletion-mailed = Tot dan kunt u het behouden: een mail met een link is onderweg naar u.
deletion-ask = Tot dan kan wie deze server beheert het voor u behouden.
deletion-keep-title = Uw account behouden?
deletion-keep = Account behouden
deletion-kept = Het account blijft. Log in.

error-keep-account = Deze link werkt niet meer: het account is al behouden, of het is gewist.

mail-deletion-subject = Uw account bij { $brand } wordt gewist
mail-deletion-text = Uw account wordt gewist op { $time }. Tot dan kan niemand erop inloggen.
mail-deletion-keep = Open deze link en bevestig om het te behouden:
mail-erased-subject = Uw account bij { $brand } is gewist
mail-erased-text = Uw account is gewist, met alles wat ervan werd bewaard.
