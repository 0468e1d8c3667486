page-address-hint = Você está em { $host }. Confira se a barra de endereços diz o mesmo antes de digitar uma senha.
page-or = ou
page-continue = Continuar
page-cancel = Cancelar
page-allow = Permitir
page-deny = Negar
page-language = Idioma
page-language-change = Alterar
page-privacy = Privacidade
page-terms = Termos
page-help = Ajuda
page-for-minutes = { $minutes ->
    [one] por { $minutes } minuto
   *[other] por { $minutes } minutos
}
page-close = Você pode fechar esta página.
page-not-set = não definido
page-yes = sim
page-no = não
page-logged-in-as = Você entrou como { $name }.
page-to-account = Ir para sua conta
page-device-app-scheme = um aplicativo neste dispositivo ({ $scheme })
page-missing-title = Página não encontrada
page-missing-heading = Esta página não existe
page-missing-text = O endereço pode estar digitado errado, ou a página pode ter mudado de lugar.
