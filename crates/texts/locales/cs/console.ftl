# The console, where people administer.

console-title = Konzole
console-menu = Nabídka
console-skip = Přejít na stránku
console-way = Místo této stránky
console-realm = Realm
console-find = Najít osobu podle jména nebo adresy
console-account = Váš účet
console-leave = Odhlásit se
console-session-about = Konzole se zavře po 30 minutách nečinnosti a po 8 hodinách.
console-overview = Přehled
console-people = Osoby
console-applications = Aplikace
console-live = Právě v užívání
console-server = Instalace
console-explain = Vysvětlit přístup
console-token = Prohlédnout token
console-audit = Auditní záznam
console-settings = Nastavení
console-drift = Plán a odchylky
console-operations = Všechny operace

console-kind-users = Osoby
console-kind-groups = Skupiny
console-kind-roles = Role
console-kind-attributes = Atributy
console-kind-rules = Pravidla přístupu
console-kind-clients = Klienti
console-kind-resources = Servery zdrojů
console-kind-scopes = Rozsahy
console-kind-providers = Poskytovatelé identity
console-kind-realms = Realmy
console-kind-keys = Podpisové klíče
console-kind-sessions = Relace
console-kind-grants = Oprávnění
console-kind-consents = Souhlasy
console-kind-credentials = Faktory
console-kind-agents = Agenti
console-kind-nodes = Uzly

console-yes = ano
console-no = ne
console-none = Nic tu není.
console-add = Přidat
console-change = Změnit
console-remove = Odebrat
console-save = Uložit
console-show = Zobrazit
console-end = Ukončit
console-go-on = Pokračovat
console-search = Hledat
console-filter = Filtrovat
console-any = libovolné
console-all = Zobrazit vše
console-pages = Stránky
console-first-page = První stránka
console-next-page = Další stránka
console-older = Starší
console-acts = Co lze udělat
console-record = Záznam
console-result = Výsledek
console-as-table = Jako tabulka
console-default = Výchozí:
console-required = povinné
console-unset = jako výchozí
console-one-a-line = Jeden na řádek.
console-as-json = JSON.
console-more-fields = Další pole: { $count }
console-recorded = Toto se zapíše do auditního záznamu.
console-done = Hotovo a zapsáno do auditního záznamu.
console-once = Uschovejte si nyní, co je zde tajné: znovu se to neukáže.

console-refused = Toto se neprovedlo.
console-not-allowed = Jste přihlášeni jako { $name }. Tento účet zde nesmí spravovat.
console-form-old = Formulář vypršel nebo není z tohoto prohlížeče. Otevřete stránku znovu.
console-form-foreign = Formulář přišel z jiného webu a nebyl přečten.
console-form-bad = Formulář nebylo možné přečíst.
console-look-at-fields = Nic se neuložilo: podívejte se na označená pole.
console-not-a-number = Toto není celé číslo.
console-not-json = Toto není JSON: řádek { $line }, sloupec { $column }.

console-ends = Toto něco ukončí a nelze to vzít zpět.
console-type-name = Chcete-li pokračovat, napište { $name }
console-type-again = Chcete-li pokračovat, napište znovu, co je u { $names }
console-name-wrong = Nic se neprovedlo: co bylo nakonec napsáno, není { $name }.
console-fresh-about = K tomu je třeba ještě jednou ukázat, kdo jste: přístupový klíč, nebo heslo a kód z posledních deseti minut.
console-fresh-go = Ukázat, kdo jste
console-fresh-missing = Nic se neprovedlo: nejprve ještě jednou ukažte, kdo jste.

console-changed = Nic se neuložilo: někdo jiný mezitím tento záznam změnil.
console-changed-about = Jeho změny jsou vypsány. Formulář je teď obsahuje, a také to, co jste napsali.
console-changed-what = Co se mezitím změnilo
console-member = Pole
console-before = Předtím
console-now = Nyní
console-yours = Vaše

console-timeline = Časová osa
console-timeline-about = Poslední řádky auditního záznamu o tomto záznamu.
console-latest = Poslední správcovské úkony
console-audit-who = Kdo nebo co
console-audit-action = Úkon
console-audit-outcome = Výsledek
console-audit-address = Adresa
console-audit-id = Požadavek, relace nebo oprávnění

console-attention = Vyžaduje pozornost
console-all-well = Nic. Uzly, klíče i auditní záznam jsou, jak mají být.
console-node-state = Uzel { $name } je { $state }.
console-node-clock = Hodiny uzlu { $name } jdou špatně.
console-audit-stopped = Auditní záznam se nezapisuje.
console-key-old = Klíč pro { $alg } je starý. Dnů, po které podepisuje: { $days }
console-logouts-failed = Vzdaná oznámení o odhlášení: { $count }

console-oldest-key = Nejstarší podpisový klíč, dny
console-settings-set = Vlastní nastavení

console-keys-about = Každý klíč se zveřejní, než podepisuje, a zůstane zveřejněn, dokud nevyprší, co podepsal.
console-key-made = Zveřejněn od { $time }.
console-key-signs-since = Podepisuje od { $time }.
console-key-signs-from = Bude podepisovat od { $time }.
console-key-ends = Odebrán { $time }.
console-key-age = Stáří ve dnech: { $days }
console-key-published = zveřejněn
console-key-signing = podepisuje

console-settings-about = Hodnota, která platí, a odkud pochází. Nastavení procesu se mění v jeho konfiguraci, nastavení realmu v jeho záznamu.
console-settings-first = Obecné
console-source = Zdroj
console-source-default = výchozí
console-source-configuration = konfigurace
console-source-record = záznam

console-token-about = Co je token a zda platí. Posílá se v těle formuláře a nikde se neuchovává.
console-token-paste = Přístupový nebo obnovovací token
console-token-valid = Tento token platí.
console-token-expired = Tento token vypršel.
console-token-revoked = Tento token byl odvolán, nebo to, na čem závisí.
console-token-consumed = Tento obnovovací token byl použit: nahradil ho jiný.
console-token-unknown = Zda tento token platí, teď nelze říct.
console-token-foreign = Toto není token tohoto serveru.
console-the-person = Osoba
console-the-client = Klient

console-operations-about = Vše, co umí správcovské API, každá operace s vlastním formulářem. K čemu operace a jejich pole slouží, je řečeno anglicky.
console-operation = Operace
console-right = Právo

console-first-title = První správce
console-first-about = Tento server zatím nemá žádný účet. Zvolte jméno a heslo; pak přidáte přístupový klíč nebo aplikaci, která ukazuje kódy.
console-first-password = Heslo
console-first-rule = Znaků, nejméně: { $count }
console-first-make = Vytvořit účet
console-first-ended = Tento odkaz byl použit, vypršel nebo není celý. Start serveru ukáže další, dokud žádný účet není.
console-first-login = Spravovat
console-first-login-about = Tento odkaz přihlásí správce tohoto vývojového serveru, jednou.
console-no-passkey = Nemáte přístupový klíč: je rychlejší než kód a nelze ho nikomu prozradit.
