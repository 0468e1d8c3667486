page-address-hint = Ви на { $host }. Перш ніж вводити пароль, переконайтеся, що так указано в адресному рядку.
page-or = або
page-continue = Далі
page-cancel = Скасувати
page-allow = Дозволити
page-deny = Відмовити
page-language = Мова
page-language-change = Змінити
page-privacy = Приватність
page-terms = Умови
page-help = Довідка
page-for-minutes = { $minutes ->
    [one] протягом { $minutes } хвилини
   *[other] протягом { $minutes } хвилин
}
page-close = Можете закрити цю сторінку.
page-not-set = не задано
page-yes = так
page-no = ні
page-logged-in-as = Ви увійшли як { $name }.
page-to-account = Перейти до облікового запису
page-device-app-scheme = застосунок на цьому пристрої ({ $scheme })
page-missing-title = Сторінку не знайдено
page-missing-heading = Такої сторінки немає
page-missing-text = Можливо, адресу введено з помилкою або сторінку переміщено.
