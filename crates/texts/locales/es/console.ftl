# The console, where people administer.

console-title = Consola
console-menu = Menú
console-skip = Ir a la página
console-way = Lugar de esta página
console-realm = Realm
console-find = Buscar una persona por nombre o dirección
console-account = Su cuenta
console-leave = Cerrar sesión
console-session-about = La consola se cierra tras 30 minutos sin uso y tras 8 horas.
console-overview = Resumen
console-people = Personas
console-applications = Aplicaciones
console-live = En uso ahora
console-server = Instalación
console-explain = Explicar el acceso
console-token = Examinar un token
console-audit = Registro de auditoría
console-settings = Ajustes
console-drift = Plan y desviación
console-operations = Todas las operaciones

console-kind-users = Personas
console-kind-groups = Grupos
console-kind-roles = Roles
console-kind-attributes = Atributos
console-kind-rules = Reglas de acceso
console-kind-clients = Clientes
console-kind-resources = Servidores de recursos
console-kind-scopes = Scopes
console-kind-providers = Proveedores de identidad
console-kind-realms = Realms
console-kind-keys = Claves de firma
console-kind-sessions = Sesiones
console-kind-grants = Autorizaciones
console-kind-consents = Consentimientos
console-kind-credentials = Factores
console-kind-agents = Agentes
console-kind-nodes = Nodos

console-yes = sí
console-no = no
console-none = Aquí no hay nada.
console-add = Añadir
console-change = Cambiar
console-remove = Quitar
console-save = Guardar
console-show = Mostrar
console-end = Terminar
console-go-on = Continuar
console-search = Buscar
console-filter = Filtrar
console-any = cualquiera
console-all = Mostrar todo
console-pages = Páginas
console-first-page = Primera página
console-next-page = Página siguiente
console-older = Anteriores
console-acts = Qué se puede hacer
console-record = Registro
console-result = Resultado
console-as-table = Como tabla
console-default = Por defecto:
console-required = obligatorio
console-unset = por defecto
console-one-a-line = Uno por línea.
console-as-json = JSON.
console-more-fields = Más campos: { $count }
console-recorded = Esto queda en el registro de auditoría.
console-done = Hecho, y anotado en el registro de auditoría.
console-once = Guarde ahora lo que aquí es secreto: no se mostrará de nuevo.

console-refused = Esto no se hizo.
console-not-allowed = Ha iniciado sesión como { $name }. Esta cuenta no puede administrar aquí.
console-form-old = El formulario ha caducado o no es de este navegador. Abra la página de nuevo.
console-form-foreign = El formulario vino de otro sitio y no se leyó.
console-form-bad = No se pudo leer el formulario.
console-look-at-fields = No se guardó nada: mire los campos marcados.
console-not-a-number = No es un número entero.
console-not-json = No es JSON: línea { $line }, columna { $column }.

console-ends = Esto termina algo y no se puede deshacer.
console-type-name = Para continuar, escriba { $name }
console-type-again = Para continuar, escriba de nuevo lo que puso en { $names }
console-name-wrong = No se hizo nada: lo escrito al final no es { $name }.
console-fresh-about = Se le pide una vez más quién es: una llave de acceso, o contraseña y código, de los últimos diez minutos.
console-fresh-go = Mostrar quién es
console-fresh-missing = No se hizo nada: primero muestre una vez más quién es.

console-changed = No se guardó nada: otra persona ha cambiado este registro mientras tanto.
console-changed-about = Sus cambios se muestran. El formulario los tiene ahora, y también lo que usted escribió.
console-changed-what = Qué cambió mientras tanto
console-member = Miembro
console-before = Antes
console-now = Ahora
console-yours = Lo suyo

console-timeline = Cronología
console-timeline-about = Las últimas líneas del registro de auditoría sobre este registro.
console-latest = Últimos actos de administración
console-audit-who = Quién o qué
console-audit-action = Acción
console-audit-outcome = Resultado
console-audit-address = Dirección
console-audit-id = Petición, sesión o autorización

console-attention = Requiere atención
console-all-well = Nada. Nodos, claves y registro de auditoría están como deben.
console-node-state = El nodo { $name } está { $state }.
console-node-clock = El reloj del nodo { $name } no va bien.
console-audit-stopped = El registro de auditoría no se está escribiendo.
console-key-old = La clave de { $alg } es antigua. Días que lleva firmando: { $days }
console-logouts-failed = Avisos de cierre de sesión abandonados: { $count }

console-oldest-key = Clave de firma más antigua, días
console-settings-set = Ajustes propios

console-keys-about = Cada clave se publica antes de firmar y sigue publicada hasta que caduca lo que firmó.
console-key-made = Publicada desde { $time }.
console-key-signs-since = Firma desde { $time }.
console-key-signs-from = Firmará a partir de { $time }.
console-key-ends = Se retira el { $time }.
console-key-age = Edad en días: { $days }
console-key-published = publicada
console-key-signing = firma

console-settings-about = El valor que cuenta y de dónde viene. Los ajustes del proceso se cambian en su configuración; los de un realm, en su registro.
console-settings-first = General
console-source = Origen
console-source-default = por defecto
console-source-configuration = configuración
console-source-record = registro

console-token-about = Qué es un token y si cuenta. Se envía en el cuerpo del formulario y no se guarda en ninguna parte.
console-token-paste = Token de acceso o de actualización
console-token-valid = Este token cuenta.
console-token-expired = Este token ha caducado.
console-token-revoked = Este token fue revocado, o aquello de lo que depende.
console-token-consumed = Este token de actualización se usó: otro ocupó su lugar.
console-token-unknown = Ahora no se puede decir si este token cuenta.
console-token-foreign = Este token no es de este servidor.
console-the-person = La persona
console-the-client = El cliente

console-operations-about = Todo lo que puede la API de administración, cada operación con su formulario. Para qué sirven las operaciones y sus miembros se dice en inglés.
console-operation = Operación
console-right = Derecho

console-first-title = El primer administrador
console-first-about = Este servidor aún no tiene ninguna cuenta. Elija un nombre y una contraseña; después añadirá una llave de acceso o una aplicación que muestra códigos.
console-first-password = Contraseña
console-first-rule = Caracteres, al menos: { $count }
console-first-make = Crear la cuenta
console-first-ended = Este enlace se usó, ha caducado o no está completo. Un arranque del servidor muestra otro mientras no haya ninguna cuenta.
console-first-login = Administrar
console-first-login-about = Este enlace inicia la sesión del administrador de este servidor de desarrollo, una vez.
console-no-passkey = No tiene llave de acceso: es más rápida que un código y no se puede revelar a nadie.
