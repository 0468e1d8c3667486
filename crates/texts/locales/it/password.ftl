password-too-short = La nuova password deve avere almeno 8 caratteri.
password-too-short-longer = La nuova password è troppo corta. Sotto il campo è indicata la lunghezza richiesta.
password-too-long = La nuova password è troppo lunga.
password-repeated = La nuova password è un solo carattere ripetuto. Ne scelga un’altra.
password-common = La nuova password è scelta da molti e si indovina per prima. Ne scelga un’altra.
password-name = La nuova password è formata dal Suo nome o indirizzo, o li contiene. Ne scelga un’altra.
password-server = La nuova password contiene il nome di questo server. Ne scelga un’altra.
