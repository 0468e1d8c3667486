# An account that a person makes, and an invitation to one.

login-sign-up = Utwórz konto

sign-up-title = Utwórz konto
sign-up-text = Na Twój adres e-mail wysyłamy link. Na stronie z linku ustawisz hasło.
sign-up-email = Adres e-mail
sign-up-send = Wyślij link
sign-up-have = Mam konto
sign-up-sent = Na ten adres wysłano wiadomość. Link w niej działa raz, { page-for-minutes }.
sign-up-address-wrong = To nie jest adres e-mail.
sign-up-domain = Adresami z tej domeny nie można tu utworzyć konta.
sign-up-ended = Ten link wygasł albo został użyty. Poproś o nowy lub zaloguj się.
sign-up-for = Logujesz się jako { $name }.
sign-up-invited-by = Zaprasza Cię { $by }.
sign-up-invited-for = Wybierz hasło. Logujesz się jako { $name }.
sign-up-name = Imię i nazwisko (nieobowiązkowe)
sign-up-name-wrong = Ta nazwa jest za długa albo ma znaki, których nie może mieć.
sign-up-terms = Akceptuję warunki.
sign-up-terms-link = Przeczytaj
sign-up-terms-missing = Aby przejść dalej, zaakceptuj warunki.
sign-up-submit = Utwórz konto
sign-up-done = Konto jest gotowe. Zaloguj się hasłem, które właśnie ustawiono.
sign-up-elsewhere = Konto jest gotowe. Wróć do przeglądarki, w której zaczęto, i zaloguj się tam: przeniesie Cię do aplikacji. Albo zaloguj się tutaj na swoje konto.

error-no-sign-up = Nikt nie może tu utworzyć konta. Poproś o nie osobę, która prowadzi ten serwer.
error-invitation = To zaproszenie przyjęto lub wycofano albo wygasło. Zaloguj się lub poproś o nowe.

mail-sign-up-subject = Utwórz konto w { $brand }
mail-sign-up-text = Utwórz swoje konto na { $brand }:
mail-sign-up-button = Utwórz konto
mail-sign-up-known-subject = Masz konto w { $brand }
mail-sign-up-known = Ktoś chciał utworzyć konto dla tego adresu na { $brand }. Ten adres już je ma.
mail-sign-up-login = Zaloguj się
mail-sign-up-recover = Jeśli nie pamiętasz hasła: { $url }
mail-sign-up-ignore = Jeśli to nie Ty, zignoruj tę wiadomość.
mail-invitation-subject = Zaproszenie do { $brand }
mail-invitation-text = Otrzymujesz zaproszenie do { $brand }. Wybierz hasło, aby się zalogować:
mail-invitation-by = { $by } zaprasza Cię do { $brand }. Wybierz hasło, aby się zalogować:
mail-invitation-button = Wybierz hasło
mail-invitation-until = Link działa raz, do { $time }.
