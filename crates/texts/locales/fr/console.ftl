# The console, where people administer.

console-title = Console
console-menu = Menu
console-skip = Aller à la page
console-way = Emplacement de cette page
console-realm = Realm
console-find = Chercher une personne par nom ou adresse
console-account = Votre compte
console-leave = Se déconnecter
console-session-about = La console se ferme après 30 minutes sans utilisation, et après 8 heures.
console-overview = Vue d’ensemble
console-people = Personnes
console-applications = Applications
console-live = En cours d’utilisation
console-server = Installation
console-explain = Expliquer l’accès
console-token = Examiner un jeton
console-audit = Journal d’audit
console-settings = Paramètres
console-drift = Plan et écarts
console-operations = Toutes les opérations

console-kind-users = Personnes
console-kind-groups = Groupes
console-kind-roles = Rôles
console-kind-attributes = Attributs
console-kind-rules = Règles d’accès
console-kind-clients = Clients
console-kind-resources = Serveurs de ressources
console-kind-scopes = Scopes
console-kind-providers = Fournisseurs d’identité
console-kind-realms = Realms
console-kind-keys = Clés de signature
console-kind-sessions = Sessions
console-kind-grants = Autorisations
console-kind-consents = Consentements
console-kind-credentials = Facteurs
console-kind-agents = Agents
console-kind-nodes = Nœuds

console-yes = oui
console-no = non
console-none = Il n’y a rien ici.
console-add = Ajouter
console-change = Modifier
console-remove = Supprimer
console-save = Enregistrer
console-show = Afficher
console-end = Y mettre fin
console-go-on = Continuer
console-search = Rechercher
console-filter = Filtrer
console-any = tous
console-all = Tout afficher
console-pages = Pages
console-first-page = Première page
console-next-page = Page suivante
console-older = Plus anciens
console-acts = Ce que l’on peut faire
console-record = Enregistrement
console-result = Résultat
console-as-table = En tableau
console-default = Par défaut :
console-required = obligatoire
console-unset = par défaut
console-one-a-line = Un par ligne.
console-as-json = JSON.
console-more-fields = Autres champs : { $count }
console-recorded = Ceci est consigné dans le journal d’audit.
console-done = Fait, et consigné dans le journal d’audit.
console-once = Conservez maintenant ce qui est secret ici : ce ne sera plus affiché.

console-refused = Cela n’a pas été fait.
console-not-allowed = Vous êtes connecté en tant que { $name }. Ce compte ne peut pas administrer ici.
console-form-old = Le formulaire a expiré ou ne vient pas de ce navigateur. Ouvrez de nouveau la page.
console-form-foreign = Le formulaire venait d’un autre site et n’a pas été lu.
console-form-bad = Le formulaire n’a pas pu être lu.
console-look-at-fields = Rien n’a été enregistré : voyez les champs marqués.
console-not-a-number = Ce n’est pas un nombre entier.
console-not-json = Ce n’est pas du JSON : ligne { $line }, colonne { $column }.

console-ends = Ceci met fin à quelque chose et ne peut être annulé.
console-type-name = Pour continuer, saisissez { $name }
console-type-again = Pour continuer, saisissez de nouveau ce que vous avez écrit à { $names }
console-name-wrong = Rien n’a été fait : ce qui a été saisi à la fin n’est pas { $name }.
console-fresh-about = Il faut montrer encore une fois qui vous êtes : une clé d’accès, ou un mot de passe et un code, des dix dernières minutes.
console-fresh-go = Montrer qui vous êtes
console-fresh-missing = Rien n’a été fait : montrez d’abord encore une fois qui vous êtes.

console-changed = Rien n’a été enregistré : quelqu’un d’autre a modifié cet enregistrement entre-temps.
console-changed-about = Ses modifications sont indiquées. Le formulaire les contient, ainsi que votre saisie.
console-changed-what = Ce qui a été modifié entre-temps
console-member = Membre
console-before = Avant
console-now = Maintenant
console-yours = Le vôtre

console-timeline = Chronologie
console-timeline-about = Les dernières lignes du journal d’audit sur cet enregistrement.
console-latest = Derniers actes d’administration
console-audit-who = Qui ou quoi
console-audit-action = Action
console-audit-outcome = Issue
console-audit-address = Adresse
console-audit-id = Requête, session ou autorisation

console-attention = À surveiller
console-all-well = Rien. Les nœuds, les clés et le journal d’audit sont comme ils doivent être.
console-node-state = Le nœud { $name } est { $state }.
console-node-clock = L’horloge du nœud { $name } est fausse.
console-audit-stopped = Le journal d’audit n’est pas écrit.
console-key-old = La clé pour { $alg } est ancienne. Jours de signature : { $days }
console-logouts-failed = Avis de déconnexion abandonnés : { $count }

console-oldest-key = Plus ancienne clé de signature, jours
console-settings-set = Paramètres modifiés

console-keys-about = Chaque clé est publiée avant de signer, et le reste jusqu’à ce que ce qu’elle a signé ait expiré.
console-key-made = Publiée depuis le { $time }.
console-key-signs-since = Signe depuis le { $time }.
console-key-signs-from = Signe à partir du { $time }.
console-key-ends = Retirée le { $time }.
console-key-age = Âge en jours : { $days }
console-key-published = publiée
console-key-signing = signe

console-settings-about = La valeur qui compte, et d’où elle vient. Les paramètres du processus se modifient dans sa configuration, ceux d’un realm dans son enregistrement.
console-settings-first = Général
console-source = Source
console-source-default = par défaut
console-source-configuration = configuration
console-source-record = enregistrement

console-token-about = Ce qu’est un jeton, et s’il compte. Il est envoyé dans le corps du formulaire et n’est conservé nulle part.
console-token-paste = Jeton d’accès ou jeton d’actualisation
console-token-valid = Ce jeton compte.
console-token-expired = Ce jeton a expiré.
console-token-revoked = Ce jeton a été révoqué, ou ce dont il dépend.
console-token-consumed = Ce jeton d’actualisation a été utilisé : un autre l’a remplacé.
console-token-unknown = On ne peut dire maintenant si ce jeton compte.
console-token-foreign = Ce n’est pas un jeton de ce serveur.
console-the-person = La personne
console-the-client = Le client

console-operations-about = Tout ce que peut l’API d’administration, avec un formulaire pour chaque opération. Le rôle des opérations et de leurs membres est expliqué en anglais.
console-operation = Opération
console-right = Droit

console-first-title = Le premier administrateur
console-first-about = Ce serveur n’a pas encore de compte. Choisissez un nom et un mot de passe ; vous ajouterez ensuite une clé d’accès, ou une application qui affiche des codes.
console-first-password = Mot de passe
console-first-rule = Caractères, au moins : { $count }
console-first-make = Créer le compte
console-first-ended = Ce lien a été utilisé, a expiré ou est incomplet. Un démarrage du serveur en affiche un autre, tant qu’il n’y a pas de compte.
console-first-login = Administrer
console-first-login-about = Ce lien connecte l’administrateur de ce serveur de développement, une fois.
console-no-passkey = Vous n’avez pas de clé d’accès : elle est plus rapide qu’un code et ne peut être révélée à personne.
