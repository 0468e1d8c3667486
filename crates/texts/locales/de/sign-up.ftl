# An account that a person makes, and an invitation to one.

login-sign-up = Konto erstellen

sign-up-title = Konto erstellen
sign-up-text = Ein Link geht an Ihre E-Mail-Adresse. Dahinter legen Sie Ihr Passwort fest.
sign-up-email = E-Mail-Adresse
sign-up-send = Link senden
sign-up-have = Ich habe ein Konto
sign-up-sent = Eine E-Mail ist an diese Adresse unterwegs. Ihr Link gilt einmal, { page-for-minutes }.
sign-up-address-wrong = Das ist keine E-Mail-Adresse.
sign-up-domain = Mit Adressen dieser Domain kann hier kein Konto erstellt werden.
sign-up-ended = Dieser Link ist abgelaufen oder wurde benutzt. Fordern Sie einen neuen an, oder melden Sie sich an.
sign-up-for = Sie melden sich mit { $name } an.
sign-up-invited-by = { $by } hat Sie eingeladen.
sign-up-invited-for = Wählen Sie Ihr Passwort. Sie melden sich mit { $name } an.
sign-up-name = Ihr Name (freiwillig)
sign-up-name-wrong = Dieser Name ist zu lang oder enthält Zeichen, die ein Name nicht haben kann.
sign-up-terms = Ich stimme den Nutzungsbedingungen zu.
sign-up-terms-link = Lesen
sign-up-terms-missing = Um fortzufahren, stimmen Sie den Nutzungsbedingungen zu.
sign-up-submit = Konto erstellen
sign-up-done = Das Konto ist bereit. Melden Sie sich mit dem Passwort an, das Sie gerade festgelegt haben.
sign-up-elsewhere = Das Konto ist bereit. Gehen Sie zurück zu dem Browser, in dem Sie begonnen haben, und melden Sie sich dort an: Er führt Sie weiter zur Anwendung. Oder melden Sie sich hier bei Ihrem Konto an.

error-no-sign-up = Hier kann niemand ein Konto erstellen. Bitten Sie den Betreiber dieses Servers um eines.
error-invitation = Diese Einladung wurde angenommen oder zurückgezogen oder ist abgelaufen. Melden Sie sich an, oder bitten Sie um eine neue.

mail-sign-up-subject = Erstellen Sie Ihr Konto bei { $brand }
mail-sign-up-text = Erstellen Sie Ihr Konto bei { $brand }:
mail-sign-up-button = Konto erstellen
mail-sign-up-known-subject = Sie haben ein Konto bei { $brand }
mail-sign-up-known = Jemand wollte für diese Adresse ein Konto bei { $brand } erstellen. Sie hat bereits eines.
mail-sign-up-login = Anmelden
mail-sign-up-recover = Falls Sie das Passwort vergessen haben: { $url }
mail-sign-up-ignore = Wenn Sie das nicht waren, können Sie diese Nachricht ignorieren.
mail-invitation-subject = Sie wurden zu { $brand } eingeladen
mail-invitation-text = Sie wurden zu { $brand } eingeladen. Wählen Sie Ihr Passwort, um sich anzumelden:
mail-invitation-by = { $by } hat Sie zu { $brand } eingeladen. Wählen Sie Ihr Passwort, um sich anzumelden:
mail-invitation-button = Passwort wählen
mail-invitation-until = Der Link gilt einmal, bis { $time }.
