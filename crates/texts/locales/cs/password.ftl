password-too-short = Nové heslo musí mít alespoň 8 znaků.
password-too-short-longer = Nové heslo je příliš krátké. Pod polem je uvedena požadovaná délka.
password-too-long = Nové heslo je příliš dlouhé.
password-repeated = Nové heslo je jeden opakovaný znak. Zvolte jiné.
password-common = Nové heslo používá mnoho lidí a hádá se jako první. Zvolte jiné.
password-name = Nové heslo je složeno z vašeho jména nebo adresy, nebo je obsahuje. Zvolte jiné.
password-server = Nové heslo obsahuje název tohoto serveru. Zvolte jiné.
