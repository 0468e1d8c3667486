# The console, where people administer.

console-title = Konsole
console-menu = Menü
console-skip = Zum Seiteninhalt
console-way = Ort dieser Seite
console-realm = Realm
console-find = Person nach Name oder Adresse suchen
console-account = Ihr Konto
console-leave = Abmelden
console-session-about = Die Konsole schließt nach 30 Minuten ohne Nutzung und nach 8 Stunden.
console-overview = Übersicht
console-people = Personen
console-applications = Anwendungen
console-live = In Benutzung
console-server = Installation
console-explain = Zugriff erklären
console-token = Token ansehen
console-audit = Audit-Protokoll
console-settings = Einstellungen
console-drift = Plan und Abweichung
console-operations = Alle Operationen

console-kind-users = Personen
console-kind-groups = Gruppen
console-kind-roles = Rollen
console-kind-attributes = Attribute
console-kind-rules = Zugriffsregeln
console-kind-clients = Clients
console-kind-resources = Ressourcenserver
console-kind-scopes = Scopes
console-kind-providers = Identitätsanbieter
console-kind-realms = Realms
console-kind-keys = Signaturschlüssel
console-kind-sessions = Sitzungen
console-kind-grants = Berechtigungen
console-kind-consents = Einwilligungen
console-kind-credentials = Faktoren
console-kind-agents = Agenten
console-kind-nodes = Knoten

console-yes = ja
console-no = nein
console-none = Hier ist nichts.
console-add = Hinzufügen
console-change = Ändern
console-remove = Entfernen
console-save = Speichern
console-show = Anzeigen
console-end = Beenden
console-go-on = Weiter
console-search = Suchen
console-filter = Filtern
console-any = beliebig
console-all = Alle anzeigen
console-pages = Seiten
console-first-page = Erste Seite
console-next-page = Nächste Seite
console-older = Ältere
console-acts = Was getan werden kann
console-record = Datensatz
console-result = Ergebnis
console-as-table = Als Tabelle
console-default = Standard:
console-required = erforderlich
console-unset = wie voreingestellt
console-one-a-line = Einer je Zeile.
console-as-json = JSON.
console-more-fields = Weitere Felder: { $count }
console-recorded = Dies wird im Audit-Protokoll festgehalten.
console-done = Erledigt und im Audit-Protokoll festgehalten.
console-once = Bewahren Sie jetzt auf, was hier geheim ist: Es wird nicht noch einmal angezeigt.

console-refused = Dies wurde nicht getan.
console-not-allowed = Sie sind als { $name } angemeldet. Dieses Konto darf hier nicht verwalten.
console-form-old = Das Formular ist abgelaufen oder stammt nicht aus diesem Browser. Öffnen Sie die Seite neu.
console-form-foreign = Das Formular kam von einer anderen Website und wurde nicht gelesen.
console-form-bad = Das Formular konnte nicht gelesen werden.
console-look-at-fields = Nichts wurde gespeichert: Sehen Sie sich die markierten Felder an.
console-not-a-number = Das ist keine ganze Zahl.
console-not-json = Das ist kein JSON: Zeile { $line }, Spalte { $column }.

console-ends = Dies beendet etwas und lässt sich nicht zurücknehmen.
console-type-name = Um fortzufahren, geben Sie { $name } ein
console-type-again = Um fortzufahren, geben Sie noch einmal ein, was bei { $names } steht
console-name-wrong = Nichts wurde getan: Was am Ende eingegeben wurde, ist nicht { $name }.
console-fresh-about = Dafür werden Sie noch einmal gefragt, wer Sie sind: Passkey oder Passwort und Code der letzten zehn Minuten.
console-fresh-go = Zeigen, wer Sie sind
console-fresh-missing = Nichts wurde getan: Zeigen Sie zuerst noch einmal, wer Sie sind.

console-changed = Nichts wurde gespeichert: Jemand anders hat diesen Datensatz inzwischen geändert.
console-changed-about = Die Änderungen sind aufgeführt. Das Formular enthält sie nun und auch Ihre Eingaben.
console-changed-what = Was inzwischen geändert wurde
console-member = Feld
console-before = Vorher
console-now = Jetzt
console-yours = Ihre Eingabe

console-timeline = Verlauf
console-timeline-about = Die letzten Zeilen des Audit-Protokolls zu diesem Datensatz.
console-latest = Letzte Verwaltungsvorgänge
console-audit-who = Wer oder was
console-audit-action = Vorgang
console-audit-outcome = Ausgang
console-audit-address = Adresse
console-audit-id = Anfrage, Sitzung oder Berechtigung

console-attention = Braucht Aufmerksamkeit
console-all-well = Nichts. Knoten, Schlüssel und Audit-Protokoll sind, wie sie sein sollen.
console-node-state = Knoten { $name } ist { $state }.
console-node-clock = Die Uhr von Knoten { $name } geht falsch.
console-audit-stopped = Das Audit-Protokoll wird nicht geschrieben.
console-key-old = Der Schlüssel für { $alg } ist alt. Tage, die er schon signiert: { $days }
console-logouts-failed = Aufgegebene Abmeldenachrichten: { $count }

console-oldest-key = Ältester Signaturschlüssel, Tage
console-settings-set = Eigene Einstellungen

console-keys-about = Jeder Schlüssel wird veröffentlicht, bevor er signiert, und bleibt es, bis alles abgelaufen ist, was er signiert hat.
console-key-made = Veröffentlicht seit { $time }.
console-key-signs-since = Signiert seit { $time }.
console-key-signs-from = Signiert ab { $time }.
console-key-ends = Entfernt am { $time }.
console-key-age = Alter in Tagen: { $days }
console-key-published = veröffentlicht
console-key-signing = signiert

console-settings-about = Der Wert, der gilt, und woher er kommt. Einstellungen des Prozesses werden in seiner Konfiguration geändert, die eines Realms in seinem Datensatz.
console-settings-first = Allgemein
console-source = Herkunft
console-source-default = Standard
console-source-configuration = Konfiguration
console-source-record = Datensatz

console-token-about = Was ein Token ist und ob es gilt. Es wird im Formular gesendet und nirgends aufbewahrt.
console-token-paste = Zugriffstoken oder Aktualisierungstoken
console-token-valid = Dieses Token gilt.
console-token-expired = Dieses Token ist abgelaufen.
console-token-revoked = Dieses Token wurde widerrufen, oder das, woran es hängt.
console-token-consumed = Dieses Aktualisierungstoken wurde benutzt: Ein anderes ist an seine Stelle getreten.
console-token-unknown = Ob dieses Token gilt, lässt sich jetzt nicht sagen.
console-token-foreign = Das ist kein Token dieses Servers.
console-the-person = Die Person
console-the-client = Der Client

console-operations-about = Alles, was die Admin-API kann, jeweils mit eigenem Formular. Wozu Operationen und Felder dienen, steht auf Englisch.
console-operation = Operation
console-right = Recht

console-first-title = Das erste Administratorkonto
console-first-about = Dieser Server hat noch kein Konto. Wählen Sie einen Namen und ein Passwort; danach fügen Sie einen Passkey hinzu oder eine App, die Codes anzeigt.
console-first-password = Passwort
console-first-rule = Zeichen, mindestens: { $count }
console-first-make = Konto anlegen
console-first-ended = Dieser Link wurde benutzt, ist abgelaufen oder unvollständig. Ein Start des Servers zeigt einen neuen, solange es kein Konto gibt.
console-first-login = Verwalten
console-first-login-about = Dieser Link meldet das Administratorkonto dieses Entwicklungsservers an, einmal.
console-no-passkey = Sie haben keinen Passkey: Er ist schneller als ein Code und lässt sich niemandem verraten.
