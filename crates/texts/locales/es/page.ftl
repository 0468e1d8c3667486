page-address-hint = Está en { $host }. Compruebe que la barra de direcciones lo dice antes de escribir una contraseña.
page-or = o
page-continue = Continuar
page-cancel = Cancelar
page-allow = Permitir
page-deny = Denegar
page-language = Idioma
page-language-change = Cambiar
page-privacy = Privacidad
page-terms = Condiciones
page-help = Ayuda
page-for-minutes = { $minutes ->
    [one] durante { $minutes } minuto
   *[other] durante { $minutes } minutos
}
page-close = Puede cerrar esta página.
page-not-set = sin indicar
page-yes = sí
page-no = no
page-logged-in-as = Ha iniciado sesión como { $name }.
page-to-account = Ir a su cuenta
page-device-app-scheme = una aplicación en este dispositivo ({ $scheme })
page-missing-title = Página no encontrada
page-missing-heading = Esa página no existe
page-missing-text = Puede que la dirección esté mal escrita o que la página se haya movido.
