page-address-hint = Vous êtes sur { $host }. Vérifiez que la barre d’adresse l’indique avant de saisir un mot de passe.
page-or = ou
page-continue = Continuer
page-cancel = Annuler
page-allow = Autoriser
page-deny = Refuser
page-language = Langue
page-language-change = Changer
page-privacy = Confidentialité
page-terms = Conditions
page-help = Aide
page-for-minutes = { $minutes ->
    [one] pendant { $minutes } minute
   *[other] pendant { $minutes } minutes
}
page-close = Vous pouvez fermer cette page.
page-not-set = non renseigné
page-yes = oui
page-no = non
page-logged-in-as = Vous êtes connecté en tant que { $name }.
page-to-account = Aller à votre compte
page-device-app-scheme = une application sur cet appareil ({ $scheme })
page-missing-title = Page introuvable
page-missing-heading = Cette page n’existe pas
page-missing-text = L’adresse est peut-être mal saisie, ou la page a été déplacée.
