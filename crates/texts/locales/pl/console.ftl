# The console, where people administer.

console-title = Konsola
console-menu = Menu
console-skip = Przejdź do strony
console-way = Miejsce tej strony
console-realm = Realm
console-find = Szukaj osoby po nazwie lub adresie
console-account = Twoje konto
console-leave = Wyloguj się
console-session-about = Konsola zamyka się po 30 minutach bezczynności i po 8 godzinach.
console-overview = Przegląd
console-people = Osoby
console-applications = Aplikacje
console-live = W użyciu
console-server = Instalacja
console-explain = Wyjaśnij dostęp
console-token = Sprawdź token
console-audit = Dziennik audytu
console-settings = Ustawienia
console-drift = Plan i odchylenia
console-operations = Wszystkie operacje

console-kind-users = Osoby
console-kind-groups = Grupy
console-kind-roles = Role
console-kind-attributes = Atrybuty
console-kind-rules = Reguły dostępu
console-kind-clients = Klienci
console-kind-resources = Serwery zasobów
console-kind-scopes = Zakresy
console-kind-providers = Dostawcy tożsamości
console-kind-realms = Realmy
console-kind-keys = Klucze podpisu
console-kind-sessions = Sesje
console-kind-grants = Uprawnienia
console-kind-consents = Zgody
console-kind-credentials = Składniki
console-kind-agents = Agenci
console-kind-nodes = Węzły

console-yes = tak
console-no = nie
console-none = Nic tu nie ma.
console-add = Dodaj
console-change = Zmień
console-remove = Usuń
console-save = Zapisz
console-show = Pokaż
console-end = Zakończ
console-go-on = Dalej
console-search = Szukaj
console-filter = Filtruj
console-any = dowolne
console-all = Pokaż wszystko
console-pages = Strony
console-first-page = Pierwsza strona
console-next-page = Następna strona
console-older = Starsze
console-acts = Co można zrobić
console-record = Rekord
console-result = Wynik
console-as-table = Jako tabela
console-default = Domyślnie:
console-required = wymagane
console-unset = domyślnie
console-one-a-line = Po jednym w wierszu.
console-as-json = JSON.
console-more-fields = Więcej pól: { $count }
console-recorded = To zostanie zapisane w dzienniku audytu.
console-done = Zrobione i zapisane w dzienniku audytu.
console-once = Zachowaj teraz to, co tu tajne: nie zostanie pokazane ponownie.

console-refused = Tego nie zrobiono.
console-not-allowed = Zalogowano jako { $name }. To konto nie może tu administrować.
console-form-old = Formularz wygasł albo nie pochodzi z tej przeglądarki. Otwórz stronę ponownie.
console-form-foreign = Formularz przyszedł z innej strony i nie został odczytany.
console-form-bad = Nie udało się odczytać formularza.
console-look-at-fields = Niczego nie zapisano: zobacz zaznaczone pola.
console-not-a-number = To nie jest liczba całkowita.
console-not-json = To nie jest JSON: wiersz { $line }, kolumna { $column }.

console-ends = To coś kończy i nie da się tego cofnąć.
console-type-name = Aby kontynuować, wpisz { $name }
console-type-again = Aby kontynuować, wpisz ponownie to, co jest w { $names }
console-name-wrong = Nic nie zrobiono: to, co wpisano na końcu, to nie { $name }.
console-fresh-about = Trzeba jeszcze raz pokazać, kim jesteś: klucz dostępu albo hasło i kod z ostatnich dziesięciu minut.
console-fresh-go = Pokaż, kim jesteś
console-fresh-missing = Nic nie zrobiono: najpierw jeszcze raz pokaż, kim jesteś.

console-changed = Niczego nie zapisano: ktoś inny zmienił w międzyczasie ten rekord.
console-changed-about = Te zmiany są wymienione. Formularz ma je teraz, a także to, co wpisano.
console-changed-what = Co się w międzyczasie zmieniło
console-member = Pole
console-before = Przedtem
console-now = Teraz
console-yours = Twoje

console-timeline = Oś czasu
console-timeline-about = Ostatnie wiersze dziennika audytu o tym rekordzie.
console-latest = Ostatnie działania administracyjne
console-audit-who = Kto lub co
console-audit-action = Działanie
console-audit-outcome = Wynik
console-audit-address = Adres
console-audit-id = Żądanie, sesja lub uprawnienie

console-attention = Wymaga uwagi
console-all-well = Nic. Węzły, klucze i dziennik audytu są takie, jak powinny.
console-node-state = Węzeł { $name } jest { $state }.
console-node-clock = Zegar węzła { $name } jest zły.
console-audit-stopped = Dziennik audytu nie jest zapisywany.
console-key-old = Klucz dla { $alg } jest stary. Dni, przez które podpisuje: { $days }
console-logouts-failed = Porzucone powiadomienia o wylogowaniu: { $count }

console-oldest-key = Najstarszy klucz podpisu, dni
console-settings-set = Własne ustawienia

console-keys-about = Każdy klucz jest publikowany, zanim podpisze, i pozostaje opublikowany, aż wygaśnie to, co podpisał.
console-key-made = Opublikowany od { $time }.
console-key-signs-since = Podpisuje od { $time }.
console-key-signs-from = Podpisuje począwszy od { $time }.
console-key-ends = Usunięty { $time }.
console-key-age = Wiek w dniach: { $days }
console-key-published = opublikowany
console-key-signing = podpisuje

console-settings-about = Wartość, która obowiązuje, i skąd pochodzi. Ustawienia procesu zmienia się w jego konfiguracji, a realmu w jego rekordzie.
console-settings-first = Ogólne
console-source = Źródło
console-source-default = domyślne
console-source-configuration = konfiguracja
console-source-record = rekord

console-token-about = Czym jest token i czy obowiązuje. Jest wysyłany w treści formularza i nigdzie nie jest przechowywany.
console-token-paste = Token dostępu lub token odświeżania
console-token-valid = Ten token obowiązuje.
console-token-expired = Ten token wygasł.
console-token-revoked = Ten token unieważniono albo to, od czego zależy.
console-token-consumed = Tego tokenu odświeżania użyto: zastąpił go inny.
console-token-unknown = Nie można teraz powiedzieć, czy ten token obowiązuje.
console-token-foreign = To nie jest token tego serwera.
console-the-person = Osoba
console-the-client = Klient

console-operations-about = Wszystko, co potrafi API administracyjne, każda operacja z własnym formularzem. Do czego służą operacje i ich pola, jest powiedziane po angielsku.
console-operation = Operacja
console-right = Prawo

console-first-title = Pierwszy administrator
console-first-about = Ten serwer nie ma jeszcze żadnego konta. Wybierz nazwę i hasło; potem dodasz klucz dostępu albo aplikację, która pokazuje kody.
console-first-password = Hasło
console-first-rule = Znaków, co najmniej: { $count }
console-first-make = Utwórz konto
console-first-ended = Tego linku użyto, wygasł albo nie jest cały. Uruchomienie serwera pokaże następny, dopóki nie ma żadnego konta.
console-first-login = Administruj
console-first-login-about = Ten link loguje administratora tego serwera deweloperskiego, jeden raz.
console-no-passkey = Nie masz klucza dostępu: jest szybszy niż kod i nie da się go nikomu zdradzić.
