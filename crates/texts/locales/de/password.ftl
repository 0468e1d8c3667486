password-too-short = Das neue Passwort braucht mindestens 8 Zeichen.
password-too-short-longer = Das neue Passwort ist zu kurz. Unter dem Feld steht, wie lang es sein muss.
password-too-long = Das neue Passwort ist zu lang.
password-repeated = Das neue Passwort ist ein einziges wiederholtes Zeichen. Wählen Sie ein anderes.
password-common = Das neue Passwort wählen viele, und es wird zuerst erraten. Wählen Sie ein anderes.
password-name = Das neue Passwort besteht aus Ihrem Namen oder Ihrer Adresse oder enthält sie. Wählen Sie ein anderes.
password-server = Das neue Passwort enthält den Namen dieses Servers. Wählen Sie ein anderes.
