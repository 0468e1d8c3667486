factors-step-who = Přihlašujete se jako { $name }.
factors-step-remember = { $days ->
    [one] V tomto prohlížeči se { $days } den neptat
    [few] V tomto prohlížeči se { $days } dny neptat
   *[other] V tomto prohlížeči se { $days } dní neptat
}
factors-step-other = Použít jiný účet
factors-totp-title = Zadejte kód z aplikace
factors-totp-label = Šestimístný kód
factors-totp-button = Použít kód z aplikace
factors-totp-wrong = To není kód, který aplikace právě ukazuje. Každý kód platí jednou.
factors-recovery-title = Zadejte obnovovací kód
factors-recovery-label = Obnovovací kód
factors-recovery-about = Každý kód ze seznamu platí jednou. Potom ho škrtněte.
factors-recovery-button = Použít obnovovací kód
factors-recovery-wrong = To není žádný z vašich obnovovacích kódů, nebo už byl použit. Každý platí jednou.
factors-password-title = Zadejte heslo
factors-password-about = Ještě jeden krok: je potřeba i vaše heslo.
factors-password-button = Použít heslo
factors-choose-title = Ještě jeden krok
factors-choose-about = Je potřeba další důkaz, že jste to vy.
factors-title = Druhý faktor
factors-none = Tento účet chrání jen heslo nebo pošta. Aplikace s kódy vyžaduje ještě jeden důkaz.
factors-app = Aplikace s kódy
factors-passkey = Přístupový klíč
factors-browser = Zapamatovaný prohlížeč
factors-since = { $kind } · od { $since }
factors-used = naposledy použito { $used }
factors-until = do { $until }
factors-remove = Odebrat
factors-remove-one = Odebrat { $name }, od { $since }
factors-removed = Odebráno.
factors-rename = Přejmenovat
factors-rename-one = Přejmenovat { $name }
factors-name = Název
factors-renamed = Název byl změněn.
factors-browsers = Zapamatované prohlížeče
factors-browsers-about = V těchto prohlížečích se na druhý faktor neptáme.
factors-codes-none = Nemáte obnovovací kódy. Dostanete se s nimi dovnitř, když nemáte druhý faktor po ruce.
factors-codes-left = { $count ->
    [one] Zbývá vám { $count } obnovovací kód. Nové kódy ho nahradí.
    [few] Zbývají vám { $count } obnovovací kódy. Nové kódy je nahradí.
   *[other] Zbývá vám { $count } obnovovacích kódů. Nové kódy je nahradí.
}
factors-codes-make = Vytvořit nové obnovovací kódy
factors-codes-title = Vaše obnovovací kódy
factors-codes-about = Vytiskněte si tyto kódy nebo si je opište a uložte tam, kde je najdete i bez tohoto zařízení. Každý platí jednou. Znovu se neukážou a dřívější kódy už neplatí.
factors-codes-kept = Mám je uložené
factors-add-button = Přidat aplikaci s kódy
factors-add-title = Přidat aplikaci s kódy
factors-add-required = Váš účet musí mít druhý faktor. Chcete-li pokračovat, nastavte ho.
factors-add-about = Naskenujte obrázek aplikací, která vytváří kódy, nebo do ní opište tajný klíč. Potom zadejte kód, který ukáže.
factors-add-secret = Tajný klíč: { $secret }
factors-add-copy = Ke zkopírování: { $secret }
factors-add-open = Otevřít v aplikaci na tomto zařízení
factors-add-qr = Tajný klíč jako QR kód
factors-add-name = Název aplikace nebo zařízení (nepovinné)
factors-add-submit = Přidat
factors-add-wrong = To není kód, který aplikace právě ukazuje. Zkontrolujte hodiny zařízení a zkuste další kód.
factors-add-many = Účet už má tolik aplikací s kódy, kolik smí mít. Nejprve některou odeberte.
factors-added = Aplikace s kódy byla přidána. Od teď je její kód potřeba při přihlášení.
factors-mail-account = Účet: { $name }
factors-mail-server = Server: { $server }
factors-mail-advice = Pokud jste to byli vy, nemusíte nic dělat. Pokud ne, přihlaste se na { $url }, změňte heslo, ukončete neznámé relace a upozorněte provozovatele serveru.
factors-mail-totp-added-subject = K vašemu účtu byla přidána aplikace s kódy
factors-mail-totp-added = Aplikace s kódy byla přidána jako druhý faktor vašeho účtu.
factors-mail-totp-removed-subject = Z vašeho účtu byla odebrána aplikace s kódy
factors-mail-totp-removed = Aplikace s kódy byla odebrána z druhých faktorů vašeho účtu.
factors-mail-passkey-added-subject = K vašemu účtu byl přidán přístupový klíč
factors-mail-passkey-added = K vašemu účtu byl přidán přístupový klíč.
factors-mail-passkey-removed-subject = Z vašeho účtu byl odebrán přístupový klíč
factors-mail-passkey-removed = Z vašeho účtu byl odebrán přístupový klíč.
factors-mail-codes-made-subject = Nové obnovovací kódy k vašemu účtu
factors-mail-codes-made = K vašemu účtu byly vytvořeny nové obnovovací kódy. Starší už neplatí.
factors-mail-codes-removed-subject = Obnovovací kódy vašeho účtu byly odebrány
factors-mail-codes-removed = Obnovovací kódy vašeho účtu byly odebrány.
factors-mail-code-used-subject = U vašeho účtu byl použit obnovovací kód
factors-mail-code-used = K přihlášení k vašemu účtu byl použit obnovovací kód.
factors-mail-password-changed-subject = Heslo vašeho účtu bylo změněno
factors-mail-password-changed = Heslo vašeho účtu bylo změněno.
factors-mail-password-removed-subject = Heslo vašeho účtu bylo odebráno
factors-mail-password-removed = Heslo vašeho účtu bylo odebráno.
factors-mail-recovered-subject = K vašemu účtu bylo nastaveno nové heslo
factors-mail-recovered = K vašemu účtu bylo nastaveno nové heslo pomocí odkazu z e-mailu.
