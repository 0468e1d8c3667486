# An account that is to be erased.

account-delete = Elimina il mio account
account-delete-act = Elimina
account-delete-ask = Eliminare l’account { $name }?
account-delete-text = Sessioni, applicazioni e token finiscono subito. { $days ->
    [one] Dopo { $days } giorno l’account viene cancellato per sempre; fino ad allora può tenerlo, con un link che riceve per e-mail.
   *[other] Dopo { $days } giorni l’account viene cancellato per sempre; fino ad allora può tenerlo, con un link che riceve per e-mail.
}
account-delete-sure = Voglio che il mio account venga cancellato.
account-delete-confirm = Per eliminare l’account, spunti la casella.

deletion-title = Il suo account verrà cancellato
deletion-when = Viene cancellato il:
deletion-mailed = Fino ad allora può tenerlo: un’e-mail con un link è in viaggio verso di lei.
deletion-ask = Fino ad allora chi gestisce questo server può tenerlo per lei.
deletion-keep-title = Tenere l’account?
deletion-keep = Tieni l’account
deletion-kept = L’account rimane. Acceda.

error-keep-account = Questo link non funziona più: l’account è già stato tenuto, o è cancellato.

mail-deletion-subject = Il suo account su { $brand } verrà cancellato
mail-deletion-text = Il suo account verrà cancellato il { $time }. Fino ad allora nessuno può accedervi.
mail-deletion-keep = Per tenerlo, apra questo link e confermi:
mail-erased-subject = Il suo account su { $brand } è stato cancellato
mail-erased-text = Il suo account è stato cancellato, con tutto ciò che ne era conservato.
