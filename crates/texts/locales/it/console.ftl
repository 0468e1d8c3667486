# The console, where people administer.

console-title = Console
console-menu = Menu
console-skip = Vai alla pagina
console-way = Posizione di questa pagina
console-realm = Realm
console-find = Cerca una persona per nome o indirizzo
console-account = Il Suo account
console-leave = Esci
console-session-about = La console si chiude dopo 30 minuti senza uso e dopo 8 ore.
console-overview = Panoramica
console-people = Persone
console-applications = Applicazioni
console-live = In uso ora
console-server = Installazione
console-explain = Spiega l’accesso
console-token = Esamina un token
console-audit = Registro di controllo
console-settings = Impostazioni
console-drift = Piano e scostamenti
console-operations = Tutte le operazioni

console-kind-users = Persone
console-kind-groups = Gruppi
console-kind-roles = Ruoli
console-kind-attributes = Attributi
console-kind-rules = Regole di accesso
console-kind-clients = Client
console-kind-resources = Server di risorse
console-kind-scopes = Scope
console-kind-providers = Provider di identità
console-kind-realms = Realm
console-kind-keys = Chiavi di firma
console-kind-sessions = Sessioni
console-kind-grants = Autorizzazioni
console-kind-consents = Consensi
console-kind-credentials = Fattori
console-kind-agents = Agenti
console-kind-nodes = Nodi

console-yes = sì
console-no = no
console-none = Qui non c’è nulla.
console-add = Aggiungi
console-change = Modifica
console-remove = Rimuovi
console-save = Salva
console-show = Mostra
console-end = Termina
console-go-on = Continua
console-search = Cerca
console-filter = Filtra
console-any = qualsiasi
console-all = Mostra tutto
console-pages = Pagine
console-first-page = Prima pagina
console-next-page = Pagina successiva
console-older = Precedenti
console-acts = Che cosa si può fare
console-record = Record
console-result = Risultato
console-as-table = Come tabella
console-default = Predefinito:
console-required = obbligatorio
console-unset = come predefinito
console-one-a-line = Uno per riga.
console-as-json = JSON.
console-more-fields = Altri campi: { $count }
console-recorded = Questo viene annotato nel registro di controllo.
console-done = Fatto, e annotato nel registro di controllo.
console-once = Conservi ora ciò che qui è segreto: non verrà mostrato di nuovo.

console-refused = Questo non è stato fatto.
console-not-allowed = Ha effettuato l’accesso come { $name }. Questo account non può amministrare qui.
console-form-old = Il modulo è scaduto o non viene da questo browser. Apra di nuovo la pagina.
console-form-foreign = Il modulo veniva da un altro sito e non è stato letto.
console-form-bad = Non è stato possibile leggere il modulo.
console-look-at-fields = Nulla è stato salvato: guardi i campi segnati.
console-not-a-number = Non è un numero intero.
console-not-json = Non è JSON: riga { $line }, colonna { $column }.

console-ends = Questo termina qualcosa e non si può annullare.
console-type-name = Per continuare, scriva { $name }
console-type-again = Per continuare, scriva di nuovo ciò che ha messo in { $names }
console-name-wrong = Nulla è stato fatto: ciò che è stato scritto alla fine non è { $name }.
console-fresh-about = Le viene chiesto ancora una volta chi è: una passkey, o password e codice, degli ultimi dieci minuti.
console-fresh-go = Mostra chi è
console-fresh-missing = Nulla è stato fatto: prima mostri ancora una volta chi è.

console-changed = Nulla è stato salvato: nel frattempo qualcun altro ha modificato questo record.
console-changed-about = Le sue modifiche sono elencate. Il modulo ora le contiene, insieme a ciò che Lei ha scritto.
console-changed-what = Che cosa è cambiato nel frattempo
console-member = Membro
console-before = Prima
console-now = Ora
console-yours = Il Suo

console-timeline = Cronologia
console-timeline-about = Le ultime righe del registro di controllo su questo record.
console-latest = Ultimi atti di amministrazione
console-audit-who = Chi o che cosa
console-audit-action = Azione
console-audit-outcome = Esito
console-audit-address = Indirizzo
console-audit-id = Richiesta, sessione o autorizzazione

console-attention = Richiede attenzione
console-all-well = Nulla. Nodi, chiavi e registro di controllo sono come devono essere.
console-node-state = Il nodo { $name } è { $state }.
console-node-clock = L’orologio del nodo { $name } è sbagliato.
console-audit-stopped = Il registro di controllo non viene scritto.
console-key-old = La chiave per { $alg } è vecchia. Giorni in cui ha firmato: { $days }
console-logouts-failed = Avvisi di uscita abbandonati: { $count }

console-oldest-key = Chiave di firma più vecchia, giorni
console-settings-set = Impostazioni proprie

console-keys-about = Ogni chiave viene pubblicata prima di firmare e resta pubblicata finché ciò che ha firmato non è scaduto.
console-key-made = Pubblicata dal { $time }.
console-key-signs-since = Firma dal { $time }.
console-key-signs-from = Firmerà dal { $time }.
console-key-ends = Rimossa il { $time }.
console-key-age = Età in giorni: { $days }
console-key-published = pubblicata
console-key-signing = firma

console-settings-about = Il valore che conta e da dove viene. Le impostazioni del processo si modificano nella configurazione, quelle di un realm nel suo record.
console-settings-first = Generale
console-source = Origine
console-source-default = predefinito
console-source-configuration = configurazione
console-source-record = record

console-token-about = Che cos’è un token e se conta. Viene inviato nel corpo del modulo e non è conservato da nessuna parte.
console-token-paste = Token di accesso o di aggiornamento
console-token-valid = Questo token conta.
console-token-expired = Questo token è scaduto.
console-token-revoked = Questo token è stato revocato, o ciò da cui dipende.
console-token-consumed = Questo token di aggiornamento è stato usato: un altro ha preso il suo posto.
console-token-unknown = Ora non si può dire se questo token conta.
console-token-foreign = Questo token non è di questo server.
console-the-person = La persona
console-the-client = Il client

console-operations-about = Tutto ciò che può l’API di amministrazione, ogni operazione con il suo modulo. A che cosa servono operazioni e membri è detto in inglese.
console-operation = Operazione
console-right = Diritto

console-first-title = Il primo amministratore
console-first-about = Questo server non ha ancora account. Scelga un nome e una password; poi aggiungerà una passkey o un’app che mostra codici.
console-first-password = Password
console-first-rule = Caratteri, almeno: { $count }
console-first-make = Crea l’account
console-first-ended = Questo link è stato usato, è scaduto o non è intero. Un avvio del server ne mostra un altro finché non c’è alcun account.
console-first-login = Amministra
console-first-login-about = Questo link fa accedere l’amministratore di questo server di sviluppo, una volta.
console-no-passkey = Non ha una passkey: è più rapida di un codice e non si può rivelare a nessuno.
