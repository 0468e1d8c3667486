# The console, where people administer.

console-title = Консоль
console-menu = Меню
console-skip = До сторінки
console-way = Місце цієї сторінки
console-realm = Realm
console-find = Знайти людину за іменем або адресою
console-account = Ваш обліковий запис
console-leave = Вийти
console-session-about = Консоль закривається після 30 хвилин без використання і після 8 годин.
console-overview = Огляд
console-people = Люди
console-applications = Застосунки
console-live = Зараз у використанні
console-server = Інсталяція
console-explain = Пояснити доступ
console-token = Переглянути токен
console-audit = Журнал аудиту
console-settings = Налаштування
console-drift = План і відхилення
console-operations = Усі операції

console-kind-users = Люди
console-kind-groups = Групи
console-kind-roles = Ролі
console-kind-attributes = Атрибути
console-kind-rules = Правила доступу
console-kind-clients = Клієнти
console-kind-resources = Сервери ресурсів
console-kind-scopes = Області доступу
console-kind-providers = Постачальники ідентичності
console-kind-realms = Realm-и
console-kind-keys = Ключі підпису
console-kind-sessions = Сеанси
console-kind-grants = Дозволи
console-kind-consents = Згоди
console-kind-credentials = Чинники
console-kind-agents = Агенти
console-kind-nodes = Вузли

console-yes = так
console-no = ні
console-none = Тут нічого немає.
console-add = Додати
console-change = Змінити
console-remove = Вилучити
console-save = Зберегти
console-show = Показати
console-end = Завершити
console-go-on = Далі
console-search = Пошук
console-filter = Фільтрувати
console-any = будь-яке
console-all = Показати все
console-pages = Сторінки
console-first-page = Перша сторінка
console-next-page = Наступна сторінка
console-older = Давніші
console-acts = Що можна зробити
console-record = Запис
console-result = Результат
console-as-table = Як таблиця
console-default = Типово:
console-required = обов’язково
console-unset = як типово
console-one-a-line = По одному в рядку.
console-as-json = JSON.
console-more-fields = Інші поля: { $count }
console-recorded = Це буде записано в журнал аудиту.
console-done = Зроблено і записано в журнал аудиту.
console-once = Збережіть зараз те, що тут таємне: удруге його не покажуть.

console-refused = Цього не зроблено.
console-not-allowed = Ви увійшли як { $name }. Цей обліковий запис не може тут адмініструвати.
console-form-old = Форма застаріла або не з цього браузера. Відкрийте сторінку знову.
console-form-foreign = Форма надійшла з іншого сайту і не була прочитана.
console-form-bad = Форму не вдалося прочитати.
console-look-at-fields = Нічого не збережено: перегляньте позначені поля.
console-not-a-number = Це не ціле число.
console-not-json = Це не JSON: рядок { $line }, стовпець { $column }.

console-ends = Це щось завершує, і повернути його не можна.
console-type-name = Щоб продовжити, введіть { $name }
console-type-again = Щоб продовжити, введіть ще раз те, що в { $names }
console-name-wrong = Нічого не зроблено: введене наприкінці не є { $name }.
console-fresh-about = Для цього треба ще раз показати, хто ви: ключ доступу або пароль і код за останні десять хвилин.
console-fresh-go = Показати, хто ви
console-fresh-missing = Нічого не зроблено: спершу ще раз покажіть, хто ви.

console-changed = Нічого не збережено: хтось інший тим часом змінив цей запис.
console-changed-about = Його зміни наведено. Форма тепер має їх, а також те, що ввели ви.
console-changed-what = Що тим часом змінилося
console-member = Поле
console-before = Раніше
console-now = Тепер
console-yours = Ваше

console-timeline = Хронологія
console-timeline-about = Останні рядки журналу аудиту про цей запис.
console-latest = Останні дії адміністрування
console-audit-who = Хто або що
console-audit-action = Дія
console-audit-outcome = Результат
console-audit-address = Адреса
console-audit-id = Запит, сеанс або дозвіл

console-attention = Потребує уваги
console-all-well = Нічого. Вузли, ключі й журнал аудиту такі, як мають бути.
console-node-state = Вузол { $name }: { $state }.
console-node-clock = Годинник вузла { $name } неправильний.
console-audit-stopped = Журнал аудиту не записується.
console-key-old = Ключ для { $alg } старий. Днів, протягом яких він підписує: { $days }
console-logouts-failed = Сповіщення про вихід, від яких відмовилися: { $count }

console-oldest-key = Найстаріший ключ підпису, дні
console-settings-set = Власні налаштування

console-keys-about = Кожен ключ оприлюднюється, перш ніж підписувати, і лишається оприлюдненим, доки не закінчиться строк підписаного.
console-key-made = Оприлюднено з { $time }.
console-key-signs-since = Підписує з { $time }.
console-key-signs-from = Підписуватиме з { $time }.
console-key-ends = Вилучається { $time }.
console-key-age = Вік у днях: { $days }
console-key-published = оприлюднено
console-key-signing = підписує

console-settings-about = Значення, яке діє, і звідки воно. Налаштування процесу змінюють у його конфігурації, а realm-у — у його записі.
console-settings-first = Загальні
console-source = Джерело
console-source-default = типово
console-source-configuration = конфігурація
console-source-record = запис

console-token-about = Що таке токен і чи він діє. Він надсилається в тілі форми і ніде не зберігається.
console-token-paste = Токен доступу або токен оновлення
console-token-valid = Цей токен діє.
console-token-expired = Строк цього токена закінчився.
console-token-revoked = Цей токен відкликано або те, від чого він залежить.
console-token-consumed = Цей токен оновлення використано: його місце зайняв інший.
console-token-unknown = Зараз не можна сказати, чи діє цей токен.
console-token-foreign = Це не токен цього сервера.
console-the-person = Людина
console-the-client = Клієнт

console-operations-about = Усе, що вміє API адміністрування, кожна операція зі своєю формою. Для чого операції та їхні поля, сказано англійською.
console-operation = Операція
console-right = Право

console-first-title = Перший адміністратор
console-first-about = Цей сервер ще не має облікових записів. Виберіть ім’я та пароль; потім додасте ключ доступу або застосунок, який показує коди.
console-first-password = Пароль
console-first-rule = Символів, щонайменше: { $count }
console-first-make = Створити обліковий запис
console-first-ended = Це посилання використано, воно застаріло або неповне. Запуск сервера покаже інше, доки немає облікового запису.
console-first-login = Адмініструвати
console-first-login-about = Це посилання один раз виконує вхід адміністратора цього сервера розробки.
console-no-passkey = У вас немає ключа доступу: він швидший за код, і його нікому не можна розказати.
