factors-step-who = Ви входите як { $name }.
factors-step-remember = { $days ->
    [one] Не питати знову в цьому браузері { $days } день
    [few] Не питати знову в цьому браузері { $days } дні
   *[other] Не питати знову в цьому браузері { $days } днів
}
factors-step-other = Інший обліковий запис
factors-totp-title = Введіть код із застосунку
factors-totp-label = Шестизначний код
factors-totp-button = Скористатися кодом із застосунку
factors-totp-wrong = Це не той код, який застосунок показує зараз. Кожен код діє один раз.
factors-recovery-title = Введіть код відновлення
factors-recovery-label = Код відновлення
factors-recovery-about = Кожен код зі списку діє один раз. Потім викресліть його.
factors-recovery-button = Скористатися кодом відновлення
factors-recovery-wrong = Це не один із ваших кодів відновлення, або його вже використано. Кожен діє один раз.
factors-password-title = Введіть пароль
factors-password-about = Ще один крок: потрібен також ваш пароль.
factors-password-button = Скористатися паролем
factors-choose-title = Ще один крок
factors-choose-about = Потрібен ще один доказ, що це ви.
factors-title = Другий чинник
factors-none = Цей обліковий запис захищає лише пароль або пошта. Застосунок із кодами вимагає ще одного доказу.
factors-app = Застосунок із кодами
factors-passkey = Ключ доступу
factors-browser = Запам’ятований браузер
factors-since = { $kind } · від { $since }
factors-used = востаннє { $used }
factors-until = до { $until }
factors-remove = Вилучити
factors-remove-one = Вилучити { $name }, від { $since }
factors-removed = Вилучено.
factors-rename = Перейменувати
factors-rename-one = Перейменувати { $name }
factors-name = Назва
factors-renamed = Назву змінено.
factors-browsers = Запам’ятовані браузери
factors-browsers-about = У цих браузерах другий чинник не запитується.
factors-codes-none = У вас немає кодів відновлення. З ними ви увійдете, коли другого чинника немає під рукою.
factors-codes-left = { $count ->
    [one] Залишився { $count } код відновлення. Нові коди замінять його.
    [few] Залишилося { $count } коди відновлення. Нові коди замінять їх.
   *[other] Залишилося { $count } кодів відновлення. Нові коди замінять їх.
}
factors-codes-make = Створити нові коди відновлення
factors-codes-title = Ваші коди відновлення
factors-codes-about = Надрукуйте або запишіть ці коди й зберігайте там, де знайдете їх без цього пристрою. Кожен діє один раз. Їх не буде показано знову, а попередні коди більше не діють.
factors-codes-kept = Коди збережено
factors-add-button = Додати застосунок із кодами
factors-add-title = Додати застосунок із кодами
factors-add-required = Ваш обліковий запис має мати другий чинник. Налаштуйте його, щоб продовжити.
factors-add-about = Відскануйте зображення застосунком, що створює коди, або введіть у ньому секрет. Потім введіть код, який він покаже.
factors-add-secret = Секрет: { $secret }
factors-add-copy = Для копіювання: { $secret }
factors-add-open = Відкрити в застосунку на цьому пристрої
factors-add-qr = Секрет як QR-код
factors-add-name = Назва застосунку або пристрою (необов’язково)
factors-add-submit = Додати
factors-add-wrong = Це не той код, який застосунок показує зараз. Перевірте годинник пристрою та спробуйте наступний код.
factors-add-many = В обліковому записі вже стільки застосунків із кодами, скільки дозволено. Спершу вилучіть один.
factors-added = Застосунок із кодами додано. Відтепер під час входу потрібен його код.
factors-mail-account = Обліковий запис: { $name }
factors-mail-server = Сервер: { $server }
factors-mail-advice = Якщо це були ви, робити нічого не треба. Якщо ні, увійдіть на { $url }, змініть пароль, завершіть невідомі сеанси та повідомте того, хто обслуговує сервер.
factors-mail-totp-added-subject = До вашого облікового запису додано застосунок із кодами
factors-mail-totp-added = Застосунок із кодами додано як другий чинник вашого облікового запису.
factors-mail-totp-removed-subject = З вашого облікового запису вилучено застосунок із кодами
factors-mail-totp-removed = Застосунок із кодами вилучено з других чинників вашого облікового запису.
factors-mail-passkey-added-subject = До вашого облікового запису додано ключ доступу
factors-mail-passkey-added = До вашого облікового запису додано ключ доступу.
factors-mail-passkey-removed-subject = З вашого облікового запису вилучено ключ доступу
factors-mail-passkey-removed = З вашого облікового запису вилучено ключ доступу.
factors-mail-codes-made-subject = Нові коди відновлення вашого облікового запису
factors-mail-codes-made = Для вашого облікового запису створено нові коди відновлення. Старі більше не діють.
factors-mail-codes-removed-subject = Коди відновлення вашого облікового запису вилучено
factors-mail-codes-removed = Коди відновлення вашого облікового запису вилучено.
factors-mail-code-used-subject = Використано код відновлення вашого облікового запису
factors-mail-code-used = Для входу до вашого облікового запису використано код відновлення.
factors-mail-password-changed-subject = Пароль вашого облікового запису змінено
factors-mail-password-changed = Пароль вашого облікового запису змінено.
factors-mail-password-removed-subject = Пароль вашого облікового запису вилучено
factors-mail-password-removed = Пароль вашого облікового запису вилучено.
factors-mail-recovered-subject = Для вашого облікового запису задано новий пароль
factors-mail-recovered = Для вашого облікового запису задано новий пароль за посиланням з листа.
