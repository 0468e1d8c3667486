password-too-short = La nuova password deve avere almeno 8 caratteri.
password-too-short-longer = La nuova password è troppo corta. Sotto il campo è indicata la lunghezza richiesta.
password-too-long = La nuova password è troppo lunga.
password-repeated = La nuova password ripete un solo carattere. Sceglierne un'altra.
password-common = La nuova password è scelta da molti e si indovina per prima. Sceglierne un'altra.
password-name = La nuova password è formata dal nome o dall'indirizzo, o li contiene. Sceglierne un'altra.
password-server = La nuova password contiene il nome di questo server. Sceglierne un'altra.
