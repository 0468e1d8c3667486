# The console, where people administer.

console-title = Console
console-menu = Menu
console-skip = Naar de pagina
console-way = Plaats van deze pagina
console-realm = Realm
console-find = Zoek een persoon op naam of adres
console-account = Uw account
console-leave = Uitloggen
console-session-about = De console sluit na 30 minuten zonder gebruik, en na 8 uur.
console-overview = Overzicht
console-people = Personen
console-applications = Toepassingen
console-live = Nu in gebruik
console-server = Installatie
console-explain = Toegang verklaren
console-token = Een token bekijken
console-audit = Auditspoor
console-settings = Instellingen
console-drift = Plan en afwijking
console-operations = Alle bewerkingen

console-kind-users = Personen
console-kind-groups = Groepen
console-kind-roles = Rollen
console-kind-attributes = Attributen
console-kind-rules = Toegangsregels
console-kind-clients = Clients
console-kind-resources = Bronservers
console-kind-scopes = Scopes
console-kind-providers = Identiteitsproviders
console-kind-realms = Realms
console-kind-keys = Ondertekeningssleutels
console-kind-sessions = Sessies
console-kind-grants = Machtigingen
console-kind-consents = Toestemmingen
console-kind-credentials = Factoren
console-kind-agents = Agenten
console-kind-nodes = Knooppunten

console-yes = ja
console-no = nee
console-none = Hier is niets.
console-add = Toevoegen
console-change = Wijzigen
console-remove = Verwijderen
console-save = Opslaan
console-show = Tonen
console-end = Beëindigen
console-go-on = Verder
console-search = Zoeken
console-filter = Filteren
console-any = alle
console-all = Alles tonen
console-pages = Pagina’s
console-first-page = Eerste pagina
console-next-page = Volgende pagina
console-older = Ouder
console-acts = Wat er kan worden gedaan
console-record = Record
console-result = Resultaat
console-as-table = Als tabel
console-default = Standaard:
console-required = verplicht
console-unset = zoals standaard
console-one-a-line = Eén per regel.
console-as-json = JSON.
console-more-fields = Meer velden: { $count }
console-recorded = Dit wordt vastgelegd in het auditspoor.
console-done = Gedaan, en vastgelegd in het auditspoor.
console-once = Bewaar nu wat hier geheim is: het wordt niet opnieuw getoond.

console-refused = Dit is niet gedaan.
console-not-allowed = U bent ingelogd als { $name }. Dit account mag hier niet beheren.
console-form-old = Het formulier is verlopen of komt niet uit deze browser. Open de pagina opnieuw.
console-form-foreign = Het formulier kwam van een andere site en is niet gelezen.
console-form-bad = Het formulier kon niet worden gelezen.
console-look-at-fields = Er is niets opgeslagen: kijk naar de gemarkeerde velden.
console-not-a-number = Dit is geen geheel getal.
console-not-json = Dit is geen JSON: regel { $line }, kolom { $column }.

console-ends = Dit beëindigt iets en kan niet worden teruggedraaid.
console-type-name = Typ { $name } om verder te gaan
console-type-again = Typ nogmaals wat u bij { $names } schreef om verder te gaan
console-name-wrong = Er is niets gedaan: wat aan het eind is getypt, is niet { $name }.
console-fresh-about = Hiervoor wordt nogmaals gevraagd wie u bent: een passkey, of wachtwoord en code, van de laatste tien minuten.
console-fresh-go = Tonen wie u bent
console-fresh-missing = Er is niets gedaan: toon eerst nogmaals wie u bent.

console-changed = Er is niets opgeslagen: iemand anders heeft dit record intussen gewijzigd.
console-changed-about = De wijzigingen staan hieronder. Het formulier heeft ze nu, en ook wat u typte.
console-changed-what = Wat intussen is gewijzigd
console-member = Veld
console-before = Eerst
console-now = Nu
console-yours = Van u

console-timeline = Tijdlijn
console-timeline-about = De laatste regels van het auditspoor over dit record.
console-latest = Laatste beheerhandelingen
console-audit-who = Wie of wat
console-audit-action = Handeling
console-audit-outcome = Uitkomst
console-audit-address = Adres
console-audit-id = Verzoek, sessie of machtiging

console-attention = Vraagt aandacht
console-all-well = Niets. Knooppunten, sleutels en auditspoor zijn zoals ze moeten zijn.
console-node-state = Knooppunt { $name } is { $state }.
console-node-clock = De klok van knooppunt { $name } loopt verkeerd.
console-audit-stopped = Het auditspoor wordt niet geschreven.
console-key-old = De sleutel voor { $alg } is oud. Dagen dat hij tekent: { $days }
console-logouts-failed = Opgegeven uitlogberichten: { $count }

console-oldest-key = Oudste sleutel, dagen
console-settings-set = Eigen instellingen

console-keys-about = Elke sleutel wordt gepubliceerd voordat hij tekent, en blijft dat tot alles wat hij tekende is verlopen.
console-key-made = Gepubliceerd sinds { $time }.
console-key-signs-since = Tekent sinds { $time }.
console-key-signs-from = Tekent vanaf { $time }.
console-key-ends = Verwijderd op { $time }.
console-key-age = Leeftijd in dagen: { $days }
console-key-published = gepubliceerd
console-key-signing = tekent

console-settings-about = De waarde die telt, en waar die vandaan komt. Instellingen van het proces wijzigt u in de configuratie, die van een realm in zijn record.
console-settings-first = Algemeen
console-source = Herkomst
console-source-default = standaard
console-source-configuration = configuratie
console-source-record = record

console-token-about = Wat een token is, en of het telt. Het wordt in het formulier verzonden en nergens bewaard.
console-token-paste = Toegangstoken of verversingstoken
console-token-valid = Dit token telt.
console-token-expired = Dit token is verlopen.
console-token-revoked = Dit token is ingetrokken, of dat waar het aan hangt.
console-token-consumed = Dit verversingstoken is gebruikt: een ander kwam ervoor in de plaats.
console-token-unknown = Of dit token telt, is nu niet te zeggen.
console-token-foreign = Dit is geen token van deze server.
console-the-person = De persoon
console-the-client = De client

console-operations-about = Alles wat de beheer-API kan, elk met een eigen formulier. Waar bewerkingen en velden voor zijn, staat er in het Engels.
console-operation = Bewerking
console-right = Recht

console-first-title = De eerste beheerder
console-first-about = Deze server heeft nog geen account. Kies een naam en een wachtwoord; daarna voegt u een passkey toe, of een app die codes toont.
console-first-password = Wachtwoord
console-first-rule = Tekens, minstens: { $count }
console-first-make = Account maken
console-first-ended = Deze link is gebruikt, verlopen of niet volledig. Een start van de server toont een nieuwe zolang er geen account is.
console-first-login = Beheren
console-first-login-about = Deze link logt de beheerder van deze ontwikkelserver in, één keer.
console-no-passkey = U hebt geen passkey: die is sneller dan een code en kan aan niemand worden verteld.
