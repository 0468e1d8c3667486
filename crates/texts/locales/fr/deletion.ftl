# An account that is to be erased.

account-delete = Supprimer mon compte
account-delete-act = Supprimer
account-delete-ask = Supprimer le compte { $name } ?
account-delete-text = Les sessions, les applications et les jetons prennent fin aussitôt. { $days ->
    [one] Après { $days } jour, le compte est supprimé définitivement ; d’ici là, vous pouvez le garder, par un lien envoyé par e-mail.
   *[other] Après { $days } jours, le compte est supprimé définitivement ; d’ici là, vous pouvez le garder, par un lien envoyé par e-mail.
}
account-delete-sure = Je veux que mon compte soit supprimé.
account-delete-confirm = Pour supprimer votre compte, cochez la case.

deletion-title = Votre compte va être supprimé
deletion-when = Il est supprimé le :
deletion-mailed = D’ici là vous pouvez le garder : un e-mail avec un lien est en route vers vous.
deletion-ask = D’ici là la personne qui gère ce serveur peut le garder pour vous.
deletion-keep-title = Garder votre compte ?
deletion-keep = Garder le compte
deletion-kept = Le compte reste. Connectez-vous.

error-keep-account = Ce lien ne fonctionne plus : le compte a déjà été gardé, ou il est supprimé.

mail-deletion-subject = Votre compte chez { $brand } va être supprimé
mail-deletion-text = Votre compte sera supprimé le { $time }. D’ici là personne ne peut s’y connecter.
mail-deletion-keep = Pour le garder, ouvrez ce lien et confirmez :
mail-erased-subject = Votre compte chez { $brand } a été supprimé
mail-erased-text = Votre compte a été supprimé, avec tout ce qui en était conservé.
