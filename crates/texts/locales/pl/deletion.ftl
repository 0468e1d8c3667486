# An account that is to be erased.

account-delete = Usuń moje konto
account-delete-act = Usuń
account-delete-ask = Usunąć konto { $name }?
account-delete-text = Sesje, aplikacje i tokeny kończą się od razu. { $days ->
    [one] Po { $days } dniu konto zostanie ostatecznie usunięte; do tego czasu możesz je zachować, używając linku z wiadomości e-mail.
   *[other] Po { $days } dniach konto zostanie ostatecznie usunięte; do tego czasu możesz je zachować, używając linku z wiadomości e-mail.
}
account-delete-sure = Chcę, aby moje konto zostało usunięte.
account-delete-confirm = Aby usunąć konto, zaznacz pole.

deletion-title = Twoje konto zostanie usunięte
deletion-when = Zostanie usunięte:
deletion-mailed = Do tego czasu możesz je zachować: wysłano do Ciebie wiadomość z linkiem.
deletion-ask = Do tego czasu może je dla Ciebie zachować osoba, która prowadzi ten serwer.
deletion-keep-title = Zachować konto?
deletion-keep = Zachowaj konto
deletion-kept = Konto zostaje. Zaloguj się.

error-keep-account = Ten link już nie działa: konto już zachowano albo usunięto.

mail-deletion-subject = Twoje konto w { $brand } zostanie usunięte
mail-deletion-text = Twoje konto zostanie usunięte { $time }. Do tego czasu nikt nie może się na nie zalogować.
mail-deletion-keep = Aby je zachować, otwórz ten link i potwierdź:
mail-erased-subject = Twoje konto w { $brand } zostało usunięte
mail-erased-text = Twoje konto zostało usunięte wraz ze wszystkim, co o nim przechowywano.
