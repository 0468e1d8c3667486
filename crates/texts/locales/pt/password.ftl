password-too-short = A nova senha precisa ter pelo menos 8 caracteres.
password-too-short-longer = A nova senha é curta demais. O comprimento necessário está indicado abaixo do campo.
password-too-long = A nova senha é longa demais.
password-repeated = A nova senha é um único caractere repetido. Escolha outra.
password-common = A nova senha é uma que muitas pessoas escolhem e é adivinhada primeiro. Escolha outra.
password-name = A nova senha é formada pelo seu nome ou endereço, ou o contém. Escolha outra.
password-server = A nova senha contém o nome deste servidor. Escolha outra.
