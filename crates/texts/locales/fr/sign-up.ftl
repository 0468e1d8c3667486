# An account that a person makes, and an invitation to one.

login-sign-up = Créer un compte

sign-up-title = Créer un compte
sign-up-text = Un lien est envoyé à votre adresse e-mail. Il mène à la page où vous choisissez votre mot de passe.
sign-up-email = Adresse e-mail
sign-up-send = Envoyer le lien
sign-up-have = J’ai un compte
sign-up-sent = Un e-mail est en route vers cette adresse. Son lien fonctionne une fois, { page-for-minutes }.
sign-up-address-wrong = Ce n’est pas une adresse e-mail.
sign-up-domain = Les adresses de ce domaine ne permettent pas de créer un compte ici.
sign-up-ended = Ce lien a expiré ou a été utilisé. Demandez-en un nouveau, ou connectez-vous.
sign-up-for = Vous vous connectez avec { $name }.
sign-up-invited-by = { $by } vous a invité.
sign-up-invited-for = Choisissez votre mot de passe. Vous vous connectez avec { $name }.
sign-up-name = Votre nom (facultatif)
sign-up-name-wrong = Ce nom est trop long ou contient des caractères qu’un nom ne peut pas avoir.
sign-up-terms = J’accepte les conditions d’utilisation.
sign-up-terms-link = Les lire
sign-up-terms-missing = Pour continuer, acceptez les conditions d’utilisation.
sign-up-submit = Créer le compte
sign-up-done = Le compte est prêt. Connectez-vous avec le mot de passe que vous venez de choisir.
sign-up-elsewhere = Le compte est prêt. Retournez au navigateur où vous avez commencé et connectez-vous là-bas : il vous mène à l’application. Ou connectez-vous ici à votre compte.

error-no-sign-up = Personne ne peut créer de compte ici. Demandez-en un à la personne qui gère ce serveur.
error-invitation = Cette invitation a été acceptée ou retirée, ou a expiré. Connectez-vous, ou demandez-en une nouvelle.

mail-sign-up-subject = Créez votre compte chez { $brand }
mail-sign-up-text = Créez votre compte sur { $brand } :
mail-sign-up-button = Créer le compte
mail-sign-up-known-subject = Vous avez un compte chez { $brand }
mail-sign-up-known = Quelqu’un a voulu créer un compte pour cette adresse sur { $brand }. Elle en a déjà un.
mail-sign-up-login = Se connecter
mail-sign-up-recover = Si vous avez oublié le mot de passe : { $url }
mail-sign-up-ignore = Si ce n’était pas vous, vous pouvez ignorer ce message.
mail-invitation-subject = Vous êtes invité à rejoindre { $brand }
mail-invitation-text = Vous êtes invité à rejoindre { $brand }. Choisissez votre mot de passe pour vous connecter :
mail-invitation-by = { $by } vous invite à rejoindre { $brand }. Choisissez votre mot de passe pour vous connecter :
mail-invitation-button = Choisir le mot de passe
mail-invitation-until = Le lien fonctionne une fois, jusqu’au { $time }.
