# An account that a person makes, and an invitation to one.

login-sign-up = Vytvořit účet

sign-up-title = Vytvořit účet
sign-up-text = Na vaši e-mailovou adresu pošleme odkaz. Na jeho stránce si nastavíte heslo.
sign-up-email = E-mailová adresa
sign-up-send = Poslat odkaz
sign-up-have = Mám účet
sign-up-sent = Na tuto adresu byla odeslána zpráva. Odkaz v ní platí jednou, { page-for-minutes }.
sign-up-address-wrong = Toto není e-mailová adresa.
sign-up-domain = S adresami této domény zde účet vytvořit nelze.
sign-up-ended = Tento odkaz vypršel nebo byl použit. Požádejte o nový, nebo se přihlaste.
sign-up-for = Přihlašujete se jako { $name }.
sign-up-invited-by = Zve vás { $by }.
sign-up-invited-for = Zvolte si heslo. Přihlašujete se jako { $name }.
sign-up-name = Vaše jméno (nepovinné)
sign-up-name-wrong = Toto jméno je příliš dlouhé nebo obsahuje znaky, které jméno mít nemůže.
sign-up-terms = Souhlasím s podmínkami.
sign-up-terms-link = Přečíst
sign-up-terms-missing = Chcete-li pokračovat, vyjádřete souhlas s podmínkami.
sign-up-submit = Vytvořit účet
sign-up-done = Účet je připraven. Přihlaste se heslem, které jste právě nastavili.
sign-up-elsewhere = Účet je připraven. Vraťte se do prohlížeče, kde jste začali, a přihlaste se tam: zavede vás do aplikace. Nebo se přihlaste zde ke svému účtu.

error-no-sign-up = Zde si nikdo nemůže vytvořit účet. Požádejte o něj správce tohoto serveru.
error-invitation = Tato pozvánka byla přijata nebo odvolána, nebo vypršela. Přihlaste se, nebo požádejte o novou.

mail-sign-up-subject = Vytvořte si účet u { $brand }
mail-sign-up-text = Vytvořte si účet na { $brand }:
mail-sign-up-button = Vytvořit účet
mail-sign-up-known-subject = Máte účet u { $brand }
mail-sign-up-known = Někdo chtěl pro tuto adresu vytvořit účet na { $brand }. Už jej má.
mail-sign-up-login = Přihlásit se
mail-sign-up-recover = Pokud jste zapomněli heslo: { $url }
mail-sign-up-ignore = Pokud jste to nebyli vy, můžete tuto zprávu ignorovat.
mail-invitation-subject = Byli jste pozváni do { $brand }
mail-invitation-text = Byli jste pozváni do { $brand }. Zvolte si heslo, kterým se přihlásíte:
mail-invitation-by = { $by } vás zve do { $brand }. Zvolte si heslo, kterým se přihlásíte:
mail-invitation-button = Zvolit heslo
mail-invitation-until = Odkaz platí jednou, do { $time }.
