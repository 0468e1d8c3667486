# The console, where people administer.

console-title = Console
console-menu = Menu
console-skip = Ir para a página
console-way = Lugar desta página
console-realm = Realm
console-find = Procurar uma pessoa por nome ou endereço
console-account = Sua conta
console-leave = Sair
console-session-about = A console fecha após 30 minutos sem uso e após 8 horas.
console-overview = Visão geral
console-people = Pessoas
console-applications = Aplicativos
console-live = Em uso agora
console-server = Instalação
console-explain = Explicar o acesso
console-token = Examinar um token
console-audit = Registro de auditoria
console-settings = Configurações
console-drift = Plano e desvios
console-operations = Todas as operações

console-kind-users = Pessoas
console-kind-groups = Grupos
console-kind-roles = Papéis
console-kind-attributes = Atributos
console-kind-rules = Regras de acesso
console-kind-clients = Clientes
console-kind-resources = Servidores de recursos
console-kind-scopes = Escopos
console-kind-providers = Provedores de identidade
console-kind-realms = Realms
console-kind-keys = Chaves de assinatura
console-kind-sessions = Sessões
console-kind-grants = Autorizações
console-kind-consents = Consentimentos
console-kind-credentials = Fatores
console-kind-agents = Agentes
console-kind-nodes = Nós

console-yes = sim
console-no = não
console-none = Não há nada aqui.
console-add = Adicionar
console-change = Alterar
console-remove = Remover
console-save = Salvar
console-show = Mostrar
console-end = Encerrar
console-go-on = Continuar
console-search = Procurar
console-filter = Filtrar
console-any = qualquer
console-all = Mostrar tudo
console-pages = Páginas
console-first-page = Primeira página
console-next-page = Próxima página
console-older = Mais antigos
console-acts = O que se pode fazer
console-record = Registro
console-result = Resultado
console-as-table = Como tabela
console-default = Padrão:
console-required = obrigatório
console-unset = como no padrão
console-one-a-line = Um por linha.
console-as-json = JSON.
console-more-fields = Mais campos: { $count }
console-recorded = Isto fica no registro de auditoria.
console-done = Feito, e anotado no registro de auditoria.
console-once = Guarde agora o que é secreto aqui: não será mostrado de novo.

console-refused = Isto não foi feito.
console-not-allowed = Você entrou como { $name }. Esta conta não pode administrar aqui.
console-form-old = O formulário expirou ou não é deste navegador. Abra a página de novo.
console-form-foreign = O formulário veio de outro site e não foi lido.
console-form-bad = Não foi possível ler o formulário.
console-look-at-fields = Nada foi salvo: veja os campos marcados.
console-not-a-number = Não é um número inteiro.
console-not-json = Não é JSON: linha { $line }, coluna { $column }.

console-ends = Isto encerra algo e não pode ser desfeito.
console-type-name = Para continuar, digite { $name }
console-type-again = Para continuar, digite de novo o que escreveu em { $names }
console-name-wrong = Nada foi feito: o que foi digitado no fim não é { $name }.
console-fresh-about = Pede-se mais uma vez quem você é: uma chave de acesso, ou senha e código, dos últimos dez minutos.
console-fresh-go = Mostrar quem você é
console-fresh-missing = Nada foi feito: primeiro mostre mais uma vez quem você é.

console-changed = Nada foi salvo: outra pessoa alterou este registro nesse meio-tempo.
console-changed-about = As alterações dela estão listadas. O formulário agora as contém, e também o que você digitou.
console-changed-what = O que mudou nesse meio-tempo
console-member = Membro
console-before = Antes
console-now = Agora
console-yours = O seu

console-timeline = Cronologia
console-timeline-about = As últimas linhas do registro de auditoria sobre este registro.
console-latest = Últimos atos de administração
console-audit-who = Quem ou o quê
console-audit-action = Ação
console-audit-outcome = Resultado
console-audit-address = Endereço
console-audit-id = Pedido, sessão ou autorização

console-attention = Precisa de atenção
console-all-well = Nada. Nós, chaves e registro de auditoria estão como devem.
console-node-state = O nó { $name } está { $state }.
console-node-clock = O relógio do nó { $name } está errado.
console-audit-stopped = O registro de auditoria não está sendo escrito.
console-key-old = A chave de { $alg } é antiga. Dias em que assinou: { $days }
console-logouts-failed = Avisos de saída abandonados: { $count }

console-oldest-key = Chave de assinatura mais antiga, dias
console-settings-set = Configurações próprias

console-keys-about = Cada chave é publicada antes de assinar e continua publicada até expirar o que assinou.
console-key-made = Publicada desde { $time }.
console-key-signs-since = Assina desde { $time }.
console-key-signs-from = Assina a partir de { $time }.
console-key-ends = Removida em { $time }.
console-key-age = Idade em dias: { $days }
console-key-published = publicada
console-key-signing = assina

console-settings-about = O valor que conta e de onde vem. As configurações do processo mudam na sua configuração; as de um realm, no seu registro.
console-settings-first = Geral
console-source = Origem
console-source-default = padrão
console-source-configuration = configuração
console-source-record = registro

console-token-about = O que é um token e se conta. Ele é enviado no corpo do formulário e não é guardado em lugar nenhum.
console-token-paste = Token de acesso ou de atualização
console-token-valid = Este token conta.
console-token-expired = Este token expirou.
console-token-revoked = Este token foi revogado, ou aquilo de que depende.
console-token-consumed = Este token de atualização foi usado: outro tomou o seu lugar.
console-token-unknown = Agora não se pode dizer se este token conta.
console-token-foreign = Este token não é deste servidor.
console-the-person = A pessoa
console-the-client = O cliente

console-operations-about = Tudo o que a API de administração pode, cada operação com seu formulário. Para que servem as operações e seus membros é dito em inglês.
console-operation = Operação
console-right = Direito

console-first-title = O primeiro administrador
console-first-about = Este servidor ainda não tem conta. Escolha um nome e uma senha; depois você adiciona uma chave de acesso ou um aplicativo que mostra códigos.
console-first-password = Senha
console-first-rule = Caracteres, no mínimo: { $count }
console-first-make = Criar a conta
console-first-ended = Este link foi usado, expirou ou não está inteiro. Uma partida do servidor mostra outro enquanto não houver conta.
console-first-login = Administrar
console-first-login-about = Este link faz entrar o administrador deste servidor de desenvolvimento, uma vez.
console-no-passkey = Você não tem chave de acesso: é mais rápida que um código e não pode ser contada a ninguém.
