password-too-short = A nova palavra-passe precisa de pelo menos 8 caracteres.
password-too-short-longer = A nova palavra-passe é demasiado curta. O comprimento necessário está indicado por baixo do campo.
password-too-long = A nova palavra-passe é demasiado longa.
password-repeated = A nova palavra-passe repete um único carácter. Escolha outra.
password-common = A nova palavra-passe é escolhida por muitas pessoas e adivinhada em primeiro lugar. Escolha outra.
password-name = A nova palavra-passe é formada pelo seu nome ou endereço, ou contém-nos. Escolha outra.
password-server = A nova palavra-passe contém o nome deste servidor. Escolha outra.
