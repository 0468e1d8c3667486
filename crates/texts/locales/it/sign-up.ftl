# An account that a person makes, and an invitation to one.

login-sign-up = Crea un account

sign-up-title = Crea un account
sign-up-text = Un link viene inviato al suo indirizzo e-mail. Da lì imposta la sua password.
sign-up-email = Indirizzo e-mail
sign-up-send = Invia il link
sign-up-have = Ho un account
sign-up-sent = Un’e-mail è in viaggio verso questo indirizzo. Il suo link funziona una volta, { page-for-minutes }.
sign-up-address-wrong = Questo non è un indirizzo e-mail.
sign-up-domain = Con gli indirizzi di questo dominio non si può creare un account qui.
sign-up-ended = Questo link è scaduto o è stato usato. Ne chieda uno nuovo, oppure acceda.
sign-up-for = Accede con { $name }.
sign-up-invited-by = L’invito è di { $by }.
sign-up-invited-for = Scelga la sua password. Accede con { $name }.
sign-up-name = Il suo nome (facoltativo)
sign-up-name-wrong = Questo nome è troppo lungo o ha caratteri che un nome non può avere.
sign-up-terms = Accetto i termini.
sign-up-terms-link = Leggerli
sign-up-terms-missing = Per continuare, accetti i termini.
sign-up-submit = Crea l’account
sign-up-done = L’account è pronto. Acceda con la password che ha appena impostato.
sign-up-elsewhere = L’account è pronto. Torni al browser in cui ha cominciato e acceda lì: la porta all’applicazione. Oppure acceda qui al suo account.

error-no-sign-up = Qui nessuno può creare un account. Ne chieda uno a chi gestisce questo server.
error-invitation = Questo invito è stato accettato o ritirato, o è scaduto. Acceda, o ne chieda uno nuovo a chi l’ha invitata.

mail-sign-up-subject = Crei il suo account su { $brand }
mail-sign-up-text = Crei il suo account su { $brand }:
mail-sign-up-button = Crea l’account
mail-sign-up-known-subject = Ha un account su { $brand }
mail-sign-up-known = Qualcuno voleva creare un account per questo indirizzo su { $brand }. Ne ha già uno.
mail-sign-up-login = Accedi
mail-sign-up-recover = Se ha dimenticato la password: { $url }
mail-sign-up-ignore = Se non è stato lei, può ignorare questo messaggio.
mail-invitation-subject = È stato invitato su { $brand }
mail-invitation-text = È stato invitato su { $brand }. Scelga la Sua password per accedere:
mail-invitation-by = { $by } La invita su { $brand }. Scelga la Sua password per accedere:
mail-invitation-button = Scegli la password
mail-invitation-until = Il link funziona una volta, fino a { $time }.
