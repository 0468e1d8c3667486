# An account that is to be erased.

account-delete = Eliminar a minha conta
account-delete-act = Excluir
account-delete-ask = Excluir a conta { $name }?
account-delete-text = As sessões, as aplicações e os tokens terminam de imediato. { $days ->
    [one] Após { $days } dia a conta é apagada de vez; até lá pode mantê-la, com um link enviado por e-mail.
   *[other] Após { $days } dias a conta é apagada de vez; até lá pode mantê-la, com um link enviado por e-mail.
}
account-delete-sure = Quero que a minha conta seja apagada.
account-delete-confirm = Para eliminar a sua conta, marque a caixa.

deletion-title = A sua conta vai ser apagada
deletion-when = É apagada em:
deletion-mailed = Até lá pode mantê-la: um e-mail com um link está a caminho.
deletion-ask = Até lá quem gere este servidor pode mantê-la por si.
deletion-keep-title = Manter a sua conta?
deletion-keep = Manter a conta
deletion-kept = A conta fica. Inicie sessão.

error-keep-account = Este link já não funciona: a conta já foi mantida ou está apagada.

mail-deletion-subject = A sua conta em { $brand } vai ser apagada
mail-deletion-text = A sua conta será apagada em { $time }. Até lá ninguém pode iniciar sessão nela.
mail-deletion-keep = Para a manter, abra este link e confirme:
mail-erased-subject = A sua conta em { $brand } foi apagada
mail-erased-text = A sua conta foi apagada, com tudo o que dela estava guardado.
