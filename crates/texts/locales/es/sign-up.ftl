# An account that a person makes, and an invitation to one.

login-sign-up = Crear una cuenta

sign-up-title = Crear una cuenta
sign-up-text = Se envía un enlace a su dirección de correo. Con él establece su contraseña.
sign-up-email = Dirección de correo
sign-up-send = Enviar el enlace
sign-up-have = Tengo una cuenta
sign-up-sent = Un correo va camino de esta dirección. Su enlace funciona una vez, { page-for-minutes }.
sign-up-address-wrong = Esto no es una dirección de correo.
sign-up-domain = Con direcciones de este dominio no se puede crear una cuenta aquí.
sign-up-ended = Este enlace ha caducado o ya se usó. Pida uno nuevo o inicie sesión.
sign-up-for = Inicia sesión con { $name }.
sign-up-invited-by = Le ha invitado { $by }.
sign-up-invited-for = Elija su contraseña. Inicia sesión con { $name }.
sign-up-name = Su nombre (opcional)
sign-up-name-wrong = Este nombre es demasiado largo o tiene caracteres que un nombre no puede tener.
sign-up-terms = Acepto las condiciones.
sign-up-terms-link = Leerlas
sign-up-terms-missing = Para continuar, acepte las condiciones.
sign-up-submit = Crear la cuenta
sign-up-done = La cuenta está lista. Inicie sesión con la contraseña que acaba de establecer.
sign-up-elsewhere = La cuenta está lista. Vuelva al navegador donde empezó e inicie sesión allí: le lleva a la aplicación. O inicie sesión aquí en su cuenta.

error-no-sign-up = Aquí nadie puede crear una cuenta. Pida una a quien administra este servidor.
error-invitation = Esta invitación fue aceptada o retirada, o ha caducado. Inicie sesión o pida una nueva a quien le invitó.

mail-sign-up-subject = Cree su cuenta en { $brand }
mail-sign-up-text = Cree su cuenta en { $brand }:
mail-sign-up-button = Crear la cuenta
mail-sign-up-known-subject = Tiene una cuenta en { $brand }
mail-sign-up-known = Alguien quiso crear una cuenta para esta dirección en { $brand }. Ya tiene una.
mail-sign-up-login = Iniciar sesión
mail-sign-up-recover = Si ha olvidado la contraseña: { $url }
mail-sign-up-ignore = Si no fue usted, puede ignorar este mensaje.
mail-invitation-subject = Le han invitado a { $brand }
mail-invitation-text = Le han invitado a { $brand }. Elija su contraseña para iniciar sesión:
mail-invitation-by = { $by } le ha invitado a { $brand }. Elija su contraseña para iniciar sesión:
mail-invitation-button = Elegir la contraseña
mail-invitation-until = El enlace funciona una vez, hasta { $time }.
