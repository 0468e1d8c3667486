# An account that is to be erased.

account-delete = Eliminar mi cuenta
account-delete-act = Eliminar
account-delete-ask = ¿Eliminar la cuenta { $name }?
account-delete-text = Las sesiones, las aplicaciones y los tokens terminan de inmediato. { $days ->
    [one] Dentro de { $days } día la cuenta se borra para siempre; hasta entonces puede conservarla con un enlace que se le envía por correo.
   *[other] Dentro de { $days } días la cuenta se borra para siempre; hasta entonces puede conservarla con un enlace que se le envía por correo.
}
account-delete-sure = Quiero que se borre mi cuenta.
account-delete-confirm = Para eliminar su cuenta, marque la casilla.

deletion-title = Su cuenta se va a borrar
deletion-when = Se borra el:
deletion-mailed = Hasta entonces puede conservarla: un correo con un enlace va camino de usted.
deletion-ask = Hasta entonces quien administra este servidor puede conservarla por usted.
deletion-keep-title = ¿Conservar su cuenta?
deletion-keep = Conservar la cuenta
deletion-kept = La cuenta se queda. Inicie sesión.

error-keep-account = Este enlace ya no funciona: la cuenta ya se conservó o está borrada.

mail-deletion-subject = Su cuenta en { $brand } se va a borrar
mail-deletion-text = Su cuenta se borrará el { $time }. Hasta entonces nadie puede iniciar sesión en ella.
mail-deletion-keep = Para conservarla, abra este enlace y confirme:
mail-erased-subject = Su cuenta en { $brand } se ha borrado
mail-erased-text = Su cuenta se ha borrado, con todo lo que se guardaba de ella.
