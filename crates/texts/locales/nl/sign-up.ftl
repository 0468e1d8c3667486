# An account that a person makes, and an invitation to one.

login-sign-up = Een account maken

sign-up-title = Een account maken
sign-up-text = Er gaat een link naar uw e-mailadres. Daarmee stelt u uw wachtwoord in.
sign-up-email = E-mailadres
sign-up-send = Link sturen
sign-up-have = Ik heb een account
sign-up-sent = Een mail is onderweg naar dit adres. De link werkt één keer, { page-for-minutes }.
sign-up-address-wrong = Dit is geen e-mailadres.
sign-up-domain = Met adressen van dit domein kan hier geen account worden gemaakt.
sign-up-ended = Deze link is verlopen of gebruikt. Vraag een nieuwe, of log in.
sign-up-for = U logt in met { $name }.
sign-up-invited-by = { $by } heeft u uitgenodigd.
sign-up-invited-for = Kies uw wachtwoord. U logt in met { $name }.
sign-up-name = Uw naam (mag leeg blijven)
sign-up-name-wrong = Deze naam is te lang of heeft tekens die een naam niet kan hebben.
sign-up-terms = Ik ga akkoord met de voorwaarden.
sign-up-terms-link = Lezen
sign-up-terms-missing = Ga akkoord met de voorwaarden om verder te gaan.
sign-up-submit = Account maken
sign-up-done = Het account is klaar. Log in met het wachtwoord dat u net hebt ingesteld.
sign-up-elsewhere = Het account is klaar. Ga terug naar de browser waarin u begon en log daar in: die brengt u naar de toepassing. Of log hier in op uw account.

error-no-sign-up = Hier kan niemand een account maken. Vraag er een aan wie deze server beheert.
error-invitation = Deze uitnodiging is aangenomen, ingetrokken of verlopen. Log in, of vraag een nieuwe aan wie u uitnodigde.

mail-sign-up-subject = Maak uw account bij { $brand }
mail-sign-up-text = Maak uw account bij { $brand }:
mail-sign-up-button = Account maken
mail-sign-up-known-subject = U hebt een account bij { $brand }
mail-sign-up-known = Iemand wilde een account voor dit adres maken bij { $brand }. Het heeft er al een.
mail-sign-up-login = Inloggen
mail-sign-up-recover = Als u het wachtwoord bent vergeten: { $url }
mail-sign-up-ignore = Als u dit niet was, kunt u dit bericht negeren.
mail-invitation-subject = U bent uitgenodigd bij { $brand }
mail-invitation-text = U bent uitgenodigd bij { $brand }. Kies uw wachtwoord om in te loggen:
mail-invitation-by = { $by } heeft u uitgenodigd bij { $brand }. Kies uw wachtwoord om in te loggen:
mail-invitation-button = Wachtwoord kiezen
mail-invitation-until = De link werkt één keer, tot { $time }.
