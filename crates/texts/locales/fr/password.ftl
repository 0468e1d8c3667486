password-too-short = Le nouveau mot de passe doit compter au moins 8 caractères.
password-too-short-longer = Le nouveau mot de passe est trop court. La longueur requise est indiquée sous le champ.
password-too-long = Le nouveau mot de passe est trop long.
password-repeated = Le nouveau mot de passe répète un seul caractère. Choisissez-en un autre.
password-common = Le nouveau mot de passe est choisi par beaucoup de gens et deviné en premier. Choisissez-en un autre.
password-name = Le nouveau mot de passe est formé de votre nom ou de votre adresse, ou les contient. Choisissez-en un autre.
password-server = Le nouveau mot de passe contient le nom de ce serveur. Choisissez-en un autre.
