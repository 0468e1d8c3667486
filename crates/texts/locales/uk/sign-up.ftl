# An account that a person makes, and an invitation to one.

login-sign-up = Створити обліковий запис

sign-up-title = Створити обліковий запис
sign-up-text = На вашу електронну адресу надійде посилання. За ним ви встановите пароль.
sign-up-email = Електронна адреса
sign-up-send = Надіслати посилання
sign-up-have = У мене є обліковий запис
sign-up-sent = На цю адресу надіслано лист. Посилання в ньому діє один раз, { page-for-minutes }.
sign-up-address-wrong = Це не електронна адреса.
sign-up-domain = З адресами цього домену тут не можна створити обліковий запис.
sign-up-ended = Термін дії цього посилання минув, або ним скористалися. Попросіть нове або увійдіть.
sign-up-for = Ви входите як { $name }.
sign-up-invited-by = Вас запрошує { $by }.
sign-up-invited-for = Виберіть пароль. Ви входите як { $name }.
sign-up-name = Ваше ім’я (необов’язково)
sign-up-name-wrong = Це ім’я задовге або містить символи, яких не може бути в імені.
sign-up-terms = Я приймаю умови.
sign-up-terms-link = Прочитати
sign-up-terms-missing = Щоб продовжити, прийміть умови.
sign-up-submit = Створити обліковий запис
sign-up-done = Обліковий запис готовий. Увійдіть із паролем, який ви щойно встановили.
sign-up-elsewhere = Обліковий запис готовий. Поверніться до браузера, де ви почали, і увійдіть там: він поведе вас до застосунку. Або увійдіть тут до свого облікового запису.

error-no-sign-up = Тут ніхто не може створити обліковий запис. Попросіть про нього того, хто керує цим сервером.
error-invitation = Це запрошення прийнято чи відкликано, або термін його дії минув. Увійдіть або попросіть нове.

mail-sign-up-subject = Створіть обліковий запис у { $brand }
mail-sign-up-text = Створіть обліковий запис на { $brand }:
mail-sign-up-button = Створити обліковий запис
mail-sign-up-known-subject = У вас є обліковий запис у { $brand }
mail-sign-up-known = Хтось хотів створити обліковий запис для цієї адреси на { $brand }. Вона вже його має.
mail-sign-up-login = Увійти
mail-sign-up-recover = Якщо ви забули пароль: { $url }
mail-sign-up-ignore = Якщо це були не ви, не зважайте на цей лист.
mail-invitation-subject = Вас запрошено до { $brand }
mail-invitation-text = Вас запрошено до { $brand }. Виберіть пароль, щоб увійти:
mail-invitation-by = { $by } запрошує вас до { $brand }. Виберіть пароль, щоб увійти:
mail-invitation-button = Вибрати пароль
mail-invitation-until = Посилання діє один раз, до { $time }.
