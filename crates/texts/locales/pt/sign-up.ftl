# An account that a person makes, and an invitation to one.

login-sign-up = Criar uma conta

sign-up-title = Criar uma conta
sign-up-text = Um link é enviado para o seu endereço de e-mail. Nele define a sua palavra-passe.
sign-up-email = Endereço de e-mail
sign-up-send = Enviar o link
sign-up-have = Tenho uma conta
sign-up-sent = Um e-mail está a caminho deste endereço. O seu link funciona uma vez, { page-for-minutes }.
sign-up-address-wrong = Isto não é um endereço de e-mail.
sign-up-domain = Com endereços deste domínio não é possível criar uma conta aqui.
sign-up-ended = Este link expirou ou já foi usado. Peça um novo ou inicie sessão.
sign-up-for = Inicia sessão com { $name }.
sign-up-invited-by = O convite é de { $by }.
sign-up-invited-for = Escolha a sua palavra-passe. Inicia sessão com { $name }.
sign-up-name = O seu nome (opcional)
sign-up-name-wrong = Este nome é demasiado longo ou tem caracteres que um nome não pode ter.
sign-up-terms = Aceito os termos.
sign-up-terms-link = Ler
sign-up-terms-missing = Para continuar, aceite os termos.
sign-up-submit = Criar a conta
sign-up-done = A conta está pronta. Inicie sessão com a palavra-passe que acabou de definir.
sign-up-elsewhere = A conta está pronta. Volte ao navegador onde começou e inicie sessão lá: leva-o à aplicação. Ou inicie sessão aqui na sua conta.

error-no-sign-up = Ninguém pode criar uma conta aqui. Peça uma a quem gere este servidor.
error-invitation = Este convite foi aceite ou retirado, ou expirou. Inicie sessão ou peça um novo a quem o convidou.

mail-sign-up-subject = Crie a sua conta em { $brand }
mail-sign-up-text = Crie a sua conta em { $brand }:
mail-sign-up-button = Criar a conta
mail-sign-up-known-subject = Tem uma conta em { $brand }
mail-sign-up-known = Alguém quis criar uma conta para este endereço em { $brand }. Já tem uma.
mail-sign-up-login = Iniciar sessão
mail-sign-up-recover = Se esqueceu a palavra-passe: { $url }
mail-sign-up-ignore = Se não foi você, pode ignorar esta mensagem.
mail-invitation-subject = Foi convidado para { $brand }
mail-invitation-text = Você foi convidado para { $brand }. Escolha sua senha para entrar:
mail-invitation-by = { $by } convidou você para { $brand }. Escolha sua senha para entrar:
mail-invitation-button = Escolher a palavra-passe
mail-invitation-until = O link funciona uma vez, até { $time }.
